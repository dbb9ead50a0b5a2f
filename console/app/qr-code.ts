// QR codes (ISO/IEC 18004) of short texts: bytes, error correction L, versions 1 to 15, always the first mask.

/** By version: codewords of correction in a block, and blocks. */
const CORRECTION = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22];
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6];
const LONG_COUNT_FROM = 10;

type Grid = boolean[][];

interface Canvas {
  dark: Grid;
  /** What is no data: finders, timing, alignment, format, version. */
  fixed: Grid;
}

/** The rows of dark modules, without the quiet zone; undefined for a text of more than 520 bytes. */
export function qrCode(text: string): Grid | undefined {
  const bytes = [...new TextEncoder().encode(text)];
  const at = CORRECTION.findIndex((_, index) => bytes.length + headBytes(index + 1) <= dataBytes(index + 1));
  if (at < 0) return undefined;
  const version = at + 1;
  const canvas = patterns(version);
  fill(canvas, interleaved(version, padded(version, bytes)));
  return canvas.dark;
}

const sizeOf = (version: number): number => 17 + 4 * version;
const headBytes = (version: number): number => (version < LONG_COUNT_FROM ? 2 : 3);

function allBytes(version: number): number {
  const marks = version < 2 ? 0 : Math.floor(version / 7) + 2;
  const aligned = marks === 0 ? 0 : (25 * marks - 10) * marks - 55;
  return Math.floor(((16 * version + 128) * version + 64 - aligned - (version < 7 ? 0 : 36)) / 8);
}

const dataBytes = (version: number): number => allBytes(version) - CORRECTION[version - 1]! * BLOCKS[version - 1]!;

/** The text with its length before it, filled up. */
function padded(version: number, bytes: readonly number[]): number[] {
  const nibbles = (value: number, count: number) =>
    Array.from({ length: count }, (_, i) => (value >> (4 * (count - 1 - i))) & 15);
  const four = [4, ...nibbles(bytes.length, version < LONG_COUNT_FROM ? 2 : 4)];
  for (const byte of bytes) four.push(...nibbles(byte, 2));
  four.push(0);
  const result = Array.from({ length: four.length / 2 }, (_, i) => four[2 * i]! * 16 + four[2 * i + 1]!);
  for (let pad = 0xec; result.length < dataBytes(version); pad ^= 0xec ^ 0x11) result.push(pad);
  return result;
}

/** A product in GF(256) by 0x11d. */
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
  return product;
}

/** Reed-Solomon: the remainder of a block. */
function correctionOf(block: readonly number[], count: number): number[] {
  const divisor = [...Array<number>(count - 1).fill(0), 1];
  for (let step = 0, root = 1; step < count; step++, root = times(root, 2))
    for (let i = 0; i < count; i++) divisor[i] = times(divisor[i]!, root) ^ (divisor[i + 1] ?? 0);
  const rest = Array<number>(count).fill(0);
  for (const byte of block) {
    const factor = byte ^ rest.shift()!;
    rest.push(0);
    for (const [i, coefficient] of divisor.entries()) rest[i] = rest[i]! ^ times(coefficient, factor);
  }
  return rest;
}

function interleaved(version: number, data: readonly number[]): number[] {
  const [count, correction] = [BLOCKS[version - 1]!, CORRECTION[version - 1]!];
  const short = Math.floor(data.length / count);
  const longer = data.length % count;
  const blocks = Array.from({ length: count }, (_, i) => {
    const from = i * short + Math.max(0, i - (count - longer));
    return data.slice(from, from + short + Number(i >= count - longer));
  });
  const columns = (rows: readonly number[][]) =>
    Array.from({ length: Math.max(...rows.map((row) => row.length)) }, (_, i) => rows.map((row) => row[i])).flat();
  const all = [columns(blocks), columns(blocks.map((block) => correctionOf(block, correction)))];
  return all.flat().filter((byte) => byte !== undefined);
}

function patterns(version: number): Canvas {
  const size = sizeOf(version);
  const grid = (): Grid => Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const canvas = { dark: grid(), fixed: grid() };
  const set = (x: number, y: number, isDark: boolean) => {
    if (x < 0 || y < 0 || x >= size || y >= size) return;
    canvas.dark[y]![x] = isDark;
    canvas.fixed[y]![x] = true;
  };
  /** Nested squares around a middle. */
  const square = (middleX: number, middleY: number, reach: number, isDark: (ring: number) => boolean) => {
    for (let y = -reach; y <= reach; y++)
      for (let x = -reach; x <= reach; x++) set(middleX + x, middleY + y, isDark(Math.max(Math.abs(x), Math.abs(y))));
  };
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  const marks = alignments(version);
  const [first, last] = [marks[0], marks.at(-1)];
  for (const x of marks)
    for (const y of marks) {
      const isInFinder = (x === first && y === first) || (x === first && y === last) || (x === last && y === first);
      if (!isInFinder) square(x, y, 2, (ring) => ring !== 1);
    }
  const corners = [[3, 3] as const, [size - 4, 3] as const, [3, size - 4] as const];
  for (const [x, y] of corners) square(x, y, 4, (ring) => ring !== 2 && ring !== 4);
  marksOfFormat(size, set);
  if (version >= 7) marksOfVersion(version, set);
  return canvas;
}

function alignments(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = 2 * Math.ceil((version * 4 + 4) / (count * 2 - 2));
  return [6, ...Array.from({ length: count - 1 }, (_, i) => sizeOf(version) - 7 - step * (count - 2 - i))];
}

/** A number with its remainder by a divisor (BCH). */
function withRemainder(value: number, bits: number, divisor: number): number {
  let rest = value;
  for (let i = 0; i < bits; i++) rest = (rest << 1) ^ ((rest >> (bits - 1)) * divisor);
  return (value << bits) | rest;
}

type Set = (x: number, y: number, isDark: boolean) => void;

/** Correction L is 01, and the first mask 000. */
function marksOfFormat(size: number, set: Set): void {
  const format = withRemainder(0b01_000, 10, 0x537) ^ 0x5412;
  const bit = (i: number) => ((format >> i) & 1) === 1;
  for (let i = 0; i < 6; i++) set(8, i, bit(i));
  set(8, 7, bit(6));
  set(8, 8, bit(7));
  set(7, 8, bit(8));
  for (let i = 9; i < 15; i++) set(14 - i, 8, bit(i));
  for (let i = 0; i < 8; i++) set(size - 1 - i, 8, bit(i));
  for (let i = 8; i < 15; i++) set(8, size - 15 + i, bit(i));
  set(8, size - 8, true);
}

function marksOfVersion(version: number, set: Set): void {
  const bits = withRemainder(version, 12, 0x1f25);
  for (let i = 0; i < 18; i++) {
    const [near, far] = [sizeOf(version) - 11 + (i % 3), Math.floor(i / 3)];
    set(near, far, ((bits >> i) & 1) === 1);
    set(far, near, ((bits >> i) & 1) === 1);
  }
}

/** Writes the bits in columns of two, from the right, upwards and downwards in turn. */
function fill({ dark, fixed }: Canvas, bytes: readonly number[]): void {
  const size = dark.length;
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const isUpward = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step++)
      for (const x of [right, right - 1]) {
        const y = isUpward ? size - 1 - step : step;
        if (fixed[y]![x]) continue;
        const isSet = (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;
        dark[y]![x] = isSet !== ((x + y) % 2 === 0);
        bit++;
      }
  }
}
