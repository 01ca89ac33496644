import { Decompress } from "fzstd";
import { ByteReader } from "./byte-reader.js";
import { DecodeError } from "./decode-error.js";
import { HEADER_SIZE } from "./event-types.js";

/** Fields before the payload; zero ends them. */
const FIELD = { END: 0, SIZE: 1, COMPRESSION: 2 } as const;
const COMPRESSION = { ZSTD: 0, NONE: 255 } as const;

/**
 * Compressed bytes fed to the decompressor at a time: one of its blocks gives up to 128 KiB, and a small block may take a few
 * bytes only, so that this bounds the work of one step.
 */
const STEP_BYTES = 2048;

/**
 * A TRANSACTION_PAYLOAD event (type 40): the events of a whole transaction, compressed. They are decompressed and handed
 * on one by one, so that memory holds the decompressor's window and one event, never the whole transaction.
 */
export class PayloadReader {
  private readonly bytes: Buffer;
  private at = 0;
  private readonly decompressor: Decompress | null;
  /** Decompressed pieces that no whole event has been taken from yet. */
  private pieces: Buffer[] = [];
  private pieceBytes = 0;

  /** @param event the event at `start` up to `end`; its payload is not copied, so the bytes must stay as they are */
  constructor(
    event: Buffer,
    start: number,
    end: number,
    private readonly onEvent: (bytes: Buffer, start: number, end: number) => void,
  ) {
    const reader = new ByteReader(event, start + HEADER_SIZE, end);
    let size = -1;
    let compression: number = COMPRESSION.NONE;
    for (;;) {
      const field = reader.lengthEncoded();
      if (field === FIELD.END) break;
      const length = reader.lengthEncoded();
      const at = reader.take(length);
      const value = new ByteReader(event, at, at + length);
      if (field === FIELD.SIZE) size = value.lengthEncoded();
      if (field === FIELD.COMPRESSION) compression = value.lengthEncoded();
    }
    const at = reader.take(size === -1 ? reader.left : size);
    this.bytes = event.subarray(at, reader.at);
    if (compression !== COMPRESSION.ZSTD && compression !== COMPRESSION.NONE) {
      throw new DecodeError(`a transaction is compressed with the unknown algorithm ${compression}`, "set binlog_transaction_compression=OFF on the source");
    }
    this.decompressor = compression === COMPRESSION.ZSTD ? new Decompress((piece) => this.push(piece)) : null;
  }

  /** Decodes a bounded part; returns whether more is left. */
  step(): boolean {
    const end = Math.min(this.at + STEP_BYTES, this.bytes.length);
    const part = this.bytes.subarray(this.at, end);
    this.at = end;
    if (this.decompressor === null) {
      this.push(part);
    } else {
      try {
        this.decompressor.push(part, end === this.bytes.length);
      } catch (error) {
        if (error instanceof Error && "code" in error && typeof error.code === "number") {
          throw new DecodeError("a compressed transaction is damaged");
        }
        throw error;
      }
    }
    if (end < this.bytes.length) return true;
    if (this.pieceBytes > 0) throw new DecodeError("a compressed transaction ends in the middle of an event");
    return false;
  }

  private push(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.pieces.push(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    this.pieceBytes += piece.length;
    if (this.pieceBytes < this.needed) return;
    let bytes = this.pieces.length === 1 ? (this.pieces[0] as Buffer) : Buffer.concat(this.pieces, this.pieceBytes);
    let at = 0;
    this.needed = HEADER_SIZE;
    while (bytes.length - at >= HEADER_SIZE) {
      const size = bytes.readUInt32LE(at + 9);
      if (size < HEADER_SIZE) throw new DecodeError("a compressed transaction is damaged");
      if (bytes.length - at < size) {
        this.needed = size;
        break;
      }
      this.onEvent(bytes, at, at + size);
      at += size;
    }
    // The decompressor may use its buffer again, so what is left is copied.
    bytes = Buffer.from(bytes.subarray(at));
    this.pieces = bytes.length === 0 ? [] : [bytes];
    this.pieceBytes = bytes.length;
  }

  /** Bytes that the next event needs at least. */
  private needed = HEADER_SIZE;
}
