/** How far a transaction that is applied in parts has come in a table without a key. It lies with the table, and is written in the transaction that applies a part. */
export interface NoKeyProgress {
  gtid: string;
  /** Changes of this table in the transaction that are applied. */
  applied: number;
}
