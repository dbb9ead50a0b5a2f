// Text in encodings that are no Unicode.

const FIRST_LEAD = 0x81;
const FIRST_TRAIL = 0x40;
const LAST = 0xfe;

const bytesFrom = (first: number, last = 0xff): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** Each sign of an encoding by its byte or bytes. */
function signsOf(encoding: string): Map<string, readonly number[]> {
  const decoder = new TextDecoder(encoding);
  const signs = new Map<string, readonly number[]>();
  const add = (...bytes: number[]) => {
    const sign = decoder.decode(Uint8Array.from(bytes));
    if ([...sign].length === 1 && sign !== "\uFFFD" && !signs.has(sign)) signs.set(sign, bytes);
  };
  for (const byte of bytesFrom(0)) add(byte);
  for (const lead of bytesFrom(FIRST_LEAD, LAST)) for (const trail of bytesFrom(FIRST_TRAIL, LAST)) add(lead, trail);
  return signs;
}

const known = new Map<string, ReturnType<typeof signsOf>>();

/** The table of an encoding is made once. */
export function encoderOf(encoding: string): (text: string) => Buffer {
  const signs = known.get(encoding) ?? signsOf(encoding);
  known.set(encoding, signs);
  return (text) =>
    Buffer.from(
      [...text].flatMap((sign) => {
        const bytes = signs.get(sign);
        if (!bytes) throw new Error(`${encoding} has no ${sign}`);
        return bytes;
      }),
    );
}

export async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}
