import { ByteReader } from "./byte-reader.js";
import { DecodeError } from "./decode-error.js";
import { HEADER_SIZE } from "./event-types.js";
import { ZstdReader } from "./zstd.js";

/** Fields before the payload; zero ends them. */
const FIELD = { END: 0, SIZE: 1, COMPRESSION: 2 } as const;
const COMPRESSION = { ZSTD: 0, NONE: 255 } as const;

/**
 * A TRANSACTION_PAYLOAD event (type 40): the events of a whole transaction, compressed. They are decompressed and handed
 * on one by one, so that memory holds the decompressor's window and one event, never the whole transaction.
 */
export class PayloadReader {
  private readonly zstd: ZstdReader | null;
  /** The payload when it is not compressed. */
  private plain: Buffer | null = null;
  /** Decompressed pieces that no whole event has been taken from yet. */
  private pieces: Buffer[] = [];
  private pieceBytes = 0;
  /** Bytes that the next event needs at least. */
  private needed = HEADER_SIZE;

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
    const payload = event.subarray(at, reader.at);
    if (compression !== COMPRESSION.ZSTD && compression !== COMPRESSION.NONE) {
      throw new DecodeError(`a transaction is compressed with the unknown algorithm ${compression}`, "set binlog_transaction_compression=OFF on the source");
    }
    if (compression === COMPRESSION.NONE) this.plain = payload;
    this.zstd = compression === COMPRESSION.ZSTD ? new ZstdReader(payload) : null;
  }

  /** Decodes a bounded part; returns whether more is left. */
  step(): boolean {
    const piece = this.zstd === null ? this.plain : this.zstd.next();
    this.plain = null;
    if (piece !== null) {
      this.push(piece);
      return true;
    }
    if (this.pieceBytes > 0) throw new DecodeError("a compressed transaction ends in the middle of an event");
    return false;
  }

  /** Gives the memory back when the end is not to be reached. */
  close(): void {
    this.zstd?.close();
  }

  private push(piece: Buffer): void {
    if (piece.length === 0) return;
    this.pieces.push(piece);
    this.pieceBytes += piece.length;
    if (this.pieceBytes < this.needed) return;
    const bytes = this.pieces.length === 1 ? piece : Buffer.concat(this.pieces, this.pieceBytes);
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
    const rest = bytes.subarray(at);
    this.pieces = rest.length === 0 ? [] : [rest];
    this.pieceBytes = rest.length;
  }
}
