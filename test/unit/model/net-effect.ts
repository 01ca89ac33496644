/** Per row key only the last image counts. Keys are told apart by their bytes here: `a` and `A` are two. */
import type { Change, Row } from "./source.js";

export interface NetEffect {
  deletes: string[];
  puts: Row[];
}

export class NetEffectBuilder {
  private images = new Map<string, Row | null>();

  get empty(): boolean {
    return this.images.size === 0;
  }

  add({ before, after }: Change): void {
    if (before !== null && before !== after?.key) this.images.set(before, null);
    if (after !== null) this.images.set(after.key, after);
  }

  take(): NetEffect {
    const entries = [...this.images];
    this.images = new Map();
    return {
      deletes: entries.filter(([, image]) => image === null).map(([key]) => key),
      puts: entries.flatMap(([, image]) => (image === null ? [] : [image])),
    };
  }
}
