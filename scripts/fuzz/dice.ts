/** Choices from a seed. */
import { Random } from "../faults/random.js";

export class Dice {
  private readonly random: Random;

  constructor(seed: number) {
    // Seeds that follow each other should have nothing in common.
    this.random = new Random(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995);
  }

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    return this.random.below(limit);
  }

  /** @param percent of times that it is true */
  percent(percent: number): boolean {
    return this.random.below(100) < percent;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.random.below(list.length)] as T;
  }

  /** Each item is in it or not. */
  some<T>(list: readonly T[], percent: number): T[] {
    return list.filter(() => this.percent(percent));
  }

  shuffled<T>(list: readonly T[]): T[] {
    const result = [...list];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [result[i], result[j]] = [result[j] as T, result[i] as T];
    }
    return result;
  }
}
