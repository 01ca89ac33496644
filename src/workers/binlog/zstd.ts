import { ZSTDDecoder } from "zstddec/stream";
import { DecodeError } from "./decode-error.js";

/** One for the process: its WebAssembly memory is shared by all streams anyway. */
const decoder = new ZSTDDecoder();

/** Compiles the decoder; must have been awaited before a `ZstdReader` is made. */
export async function loadZstd(): Promise<void> {
  await decoder.init();
}

/**
 * Compressed bytes handed to the decoder at a time. One of its blocks gives up to 128 KiB, and a small block may take a few bytes
 * only, so this bounds the work of one step.
 */
const INPUT_BYTES = 2048;

/** The decoder of zstddec 0.3.4 does not look at error codes: on damaged data it gives empty pieces for ever. */
const MAX_EMPTY_PIECES = 100;

/** Decompresses a zstd stream piece by piece; memory holds the window of the frame (2 MiB at MySQL's default level) and one piece. */
export class ZstdReader {
  private at = 0;
  private closed = false;
  private emptyPieces = 0;
  private readonly pieces: Generator<Uint8Array>;

  constructor(private readonly bytes: Buffer) {
    this.pieces = decoder.decodeStreaming(this.input());
  }

  /** The next piece, possibly empty; null at the end. */
  next(): Buffer | null {
    let result: IteratorResult<Uint8Array, unknown>;
    try {
      result = this.pieces.next();
    } catch {
      throw damaged();
    }
    if (result.done === true) return null;
    const piece = result.value;
    this.emptyPieces = piece.length === 0 ? this.emptyPieces + 1 : 0;
    if (this.emptyPieces > MAX_EMPTY_PIECES) throw damaged();
    return Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  }

  /** Frees the decoder's memory, which only its own end does: without more input it comes to that end soon. */
  close(): void {
    this.closed = true;
    for (let i = 0; i < MAX_EMPTY_PIECES; i++) {
      try {
        if (this.pieces.next().done === true) return;
      } catch {
        return;
      }
    }
  }

  private *input(): Generator<Uint8Array> {
    while (this.at < this.bytes.length && !this.closed) {
      const end = Math.min(this.at + INPUT_BYTES, this.bytes.length);
      const part = this.bytes.subarray(this.at, end);
      this.at = end;
      this.emptyPieces = 0;
      yield part;
    }
  }
}

function damaged(): DecodeError {
  return new DecodeError("a compressed transaction is damaged");
}
