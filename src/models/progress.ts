/** Progress of a long copy: a bar on a terminal, a plain line for each tenth elsewhere. */
import { SingleBar } from "cli-progress";
import { formatBytes } from "../base/format.ts";

export interface Progress {
  /** One line about what happens next. */
  note(line: string): void;
  begin(what: string, totalBytes: number, doneBytes: number): void;
  advance(doneBytes: number): void;
  end(): void;
}

export function createProgress(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? new BarProgress(stream) : new LineProgress(stream);
}

class BarProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  #bar: SingleBar | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  note(line: string): void {
    this.#stream.write(`${line}\n`);
  }

  begin(what: string, totalBytes: number, doneBytes: number): void {
    this.#bar = new SingleBar({
      stream: this.#stream,
      format: `${what} [{bar}] {percentage}% of {size}, {eta_formatted} left`,
      hideCursor: true,
    });
    this.#bar.start(totalBytes, doneBytes, { size: formatBytes(totalBytes) });
  }

  advance(doneBytes: number): void {
    this.#bar?.update(doneBytes);
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

class LineProgress implements Progress {
  readonly #out: { write(text: string): unknown };
  #what = "";
  #totalBytes = 0;
  #tenths = 0;

  constructor(out: { write(text: string): unknown }) {
    this.#out = out;
  }

  note(line: string): void {
    this.#out.write(`${line}\n`);
  }

  begin(what: string, totalBytes: number, doneBytes: number): void {
    this.#what = what;
    this.#totalBytes = totalBytes;
    this.#tenths = Math.floor((doneBytes / totalBytes) * 10);
    this.note(`${what}: ${formatBytes(totalBytes)}, ${this.#tenths * 10}% there`);
  }

  advance(doneBytes: number): void {
    const tenths = Math.floor((doneBytes / this.#totalBytes) * 10);
    if (tenths <= this.#tenths) return;
    this.#tenths = tenths;
    this.note(`${this.#what}: ${tenths * 10}%`);
  }

  end(): void {
    this.#tenths = 0;
  }
}
