import type { ErrorCode } from "../../shared/errors.js";

/**
 * Something in the binlog that cannot be carried exactly. Raised deep in the decoders, which know the column but not
 * the transaction; `BinlogDecoder` turns it into a `DroverError` that names both. Messages never hold row values.
 */
export class DecodeError extends Error {
  readonly code: ErrorCode;
  readonly cure: string | undefined;

  constructor(message: string, cure?: string, code: ErrorCode = "UNDECODABLE") {
    super(message);
    this.name = "DecodeError";
    this.cure = cure;
    this.code = code;
  }
}
