/**
 * How far a transaction that is applied in parts has come in a table without a key. It is kept where other tables keep the last
 * key of their plan, which such a table has none of.
 */
export interface NoKeyProgress {
  gtid: string;
  /** Changes of this table in the transaction that are applied. */
  applied: number;
}

const FORM = /^no-key ([^ ]+) (\d+)$/;

export const NO_KEY_MARK = {
  write: ({ gtid, applied }: NoKeyProgress): Buffer => Buffer.from(`no-key ${gtid} ${applied}`, "latin1"),
  /** Null for everything else, a key of an earlier shape of the table included. */
  read(bytes: Buffer | null): NoKeyProgress | null {
    const found = bytes === null ? null : FORM.exec(bytes.toString("latin1"));
    return found === null ? null : { gtid: found[1] as string, applied: Number(found[2]) };
  },
};
