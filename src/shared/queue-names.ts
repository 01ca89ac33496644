/** The queues' names, for what needs nothing else of BullMQ: the command line starts in less than half the time without it. */

export const QUEUE_NAMES = ["control", "copy", "tail", "apply", "diff"] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];
