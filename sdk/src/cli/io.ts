// The access of the command line to the machine: its environment, its terminal, the network and the time.
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { sleep } from "../transport.ts";

export interface Io {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Writes a line of the result. */
  out(line: string): void;
  /** Writes a line about the work, which is not part of the result. */
  note(line: string): void;
  /** Replaces the line of progress; only on a terminal. */
  progress(line: string): void;
  isTerminal: boolean;
  /** Asks the user. @param isSecret does not show what is typed */
  ask(question: string, isSecret?: boolean): Promise<string>;
  readInput(): Promise<string>;
  fetch: typeof fetch;
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after the time, or at once when `signal` is aborted. */
  pause(ms: number): Promise<void>;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

/** The real machine and the terminal of this process. */
export function processIo(): Io {
  const stopping = new AbortController();
  process.once("SIGINT", () => stopping.abort());
  process.once("SIGTERM", () => stopping.abort());
  // The reader of the result, such as `head`, has closed the pipe.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    stopping.abort();
  });
  // A closed pipe of the notes is ignored: the result and the exit code stay.
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  const isTerminal = process.stderr.isTTY === true;
  return {
    env: process.env,
    cwd: process.cwd(),
    out: (line) => void process.stdout.write(`${line}\n`),
    note: (line) => void process.stderr.write(`${line}\n`),
    progress: (line) => {
      if (isTerminal) process.stderr.write(`\r\u001b[2K${line}`);
    },
    isTerminal,
    ask,
    readInput: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks).toString("utf8");
    },
    fetch: (...args) => fetch(...args),
    now: () => Date.now(),
    pause: (ms) => sleep(ms, stopping.signal).catch(() => undefined),
    signal: stopping.signal,
  };
}

function ask(question: string, isSecret = false): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? silent : process.stderr,
    terminal: process.stdin.isTTY === true,
  });
  return new Promise((resolve) => {
    let answer = "";
    lines.once("line", (line) => {
      answer = line;
      lines.close();
    });
    lines.once("close", () => {
      if (isSecret) process.stderr.write("\n");
      resolve(answer);
    });
  });
}
