// Records of CSV files: encodings, the line that says the delimiter, and the byte at which reading continues (AMB-133).
import { describe, expect, it } from "vitest";
import type { Encoding } from "../../shared/store/files/encodings.ts";
import { readRecords } from "../../shared/store/files/records.ts";
import { chunked, encoderOf } from "../support/legacy-text.ts";

const ROWS = [
  ["external_id", "note"],
  ["u1", "Zoë €uro “q”"],
  ["u2", 'two\r\nlines, "quoted"'],
  ["u3", ""],
  ["u4", "Ünal"],
  ["u5", "last"],
];
const ASTRAL = [...ROWS, ["u6", "👩‍🚀 ﷽ ł"], ["u7", "end"]];

const POLISH_ROWS = [
  ["external_id", "Imię"],
  ["p1", "Łukasz Żak"],
  ["p2", "dąb, wół, śląż"],
];

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const textOf = (rows: string[][]) => rows.map((row) => `${row.map(quoted).join(";")}\r\n`).join("\r\n");
const SPECIAL: Record<string, number> = { "€": 0x80, "“": 0x93, "”": 0x94 };

const POLISH: Record<string, number> = { Ł: 0xa3, ą: 0xb9, ł: 0xb3, ż: 0xbf, Ż: 0xaf, ę: 0xea, ś: 0x9c };

const JAPANESE: Record<string, number[]> = {
  山: [0x8e, 0x52],
  田: [0x93, 0x63],
  停: [0x92, 0xe2],
  メ: [0x83, 0x81],
  ー: [0x81, 0x5b],
  ｱ: [0xb1],
};
const JAPANESE_ROWS = [
  ["id", "ｱ"],
  ["山田停", 'メー"x"'],
  ["z", "メー\n山"],
];

const RUSSIAN_ROWS = [
  ["id", "ад"],
  ["Отписан", 'да"x"'],
  ["z", "й\nя"],
];
const TURKISH_ROWS = [
  ["id", "Çağ"],
  ["Müşteri", 'İzni"x"'],
  ["z", "ı\nş"],
];

const CHINESE_ROWS = [
  ["id", "邮箱"],
  ["张三", '是"x"'],
  ["z", "丰\n李四丂"],
];
const KOREAN_ROWS = [
  ["id", "이름"],
  ["김철수", '동의"x"'],
  ["z", "거부\n한"],
];

const encoders: Record<string, (text: string) => Buffer> = {
  "utf-8": (text) => Buffer.from(text),
  "utf-8 with a mark": (text) => Buffer.from(`\uFEFF${text}`),
  "utf-16le": (text) => Buffer.from(`\uFEFF${text}`, "utf16le"),
  "utf-16be": (text) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16(),
  "utf-16le without a mark": (text) => Buffer.from(text, "utf16le"),
  "utf-16be without a mark": (text) => Buffer.from(text, "utf16le").swap16(),
  "windows-1252": (text) => Buffer.from([...text].map((letter) => SPECIAL[letter] ?? letter.charCodeAt(0))),
  "windows-1250": (text) => Buffer.from([...text].map((letter) => POLISH[letter] ?? letter.charCodeAt(0))),
  "windows-1251": encoderOf("windows-1251"),
  "windows-1254": encoderOf("windows-1254"),
  gbk: encoderOf("gbk"),
  "euc-kr": encoderOf("euc-kr"),
  shift_jis: (text) => Buffer.from([...text].flatMap((letter) => JAPANESE[letter] ?? letter.charCodeAt(0))),
};

async function read(bytes: Buffer, size: number, known: Parameters<typeof readRecords>[1] = {}) {
  const records = [];
  for await (const record of readRecords(chunked(bytes, size), known)) records.push(record);
  return records;
}
const cellsOf = (records: { cells: string[] }[]) => records.map(({ cells }) => cells);

describe.each([
  ["utf-8", "utf-8", ASTRAL],
  ["utf-8 with a mark", "utf-8", ASTRAL],
  ["utf-16le", "utf-16le", ASTRAL],
  ["utf-16be", "utf-16be", ASTRAL],
  ["utf-16le without a mark", "utf-16le", ASTRAL],
  ["utf-16be without a mark", "utf-16be", ASTRAL],
  ["windows-1252", "windows-1252", ROWS],
  ["windows-1250", "windows-1250", POLISH_ROWS],
  ["windows-1251", "windows-1251", RUSSIAN_ROWS],
  ["windows-1254", "windows-1254", TURKISH_ROWS],
  ["shift_jis", "shift_jis", JAPANESE_ROWS],
  ["gbk", "gbk", CHINESE_ROWS],
  ["euc-kr", "euc-kr", KOREAN_ROWS],
] as [string, Encoding, string[][]][])("%s", (name, encoding, rows) => {
  const bytes = encoders[name]!(textOf(rows));
  const told = name.startsWith("utf") ? {} : { encoding };

  it.each([1, 2, 3, 7, 64, 100_000])("a record is read in pieces of %i bytes (AMB-133)", async (size) => {
    const records = await read(bytes, size, told);
    expect(cellsOf(records)).toEqual(rows);
    expect(records[0]).toMatchObject({ encoding, delimiter: ";" });
  });

  it("continues after each of its records (AMB-133, IMP-2)", async () => {
    for (const size of [3, 50, 100_000]) {
      const records = await read(bytes, size, told);
      for (const [i, { end, delimiter }] of records.entries()) {
        const rest = await read(bytes.subarray(end), size, { delimiter, encoding });
        expect(cellsOf(rest)).toEqual(rows.slice(i + 1));
      }
    }
  });
});

it.each([
  ["euc-kr", Buffer.from([0x61, 0x2c, 0x8c, 0x63, 0x0a])],
  ["gbk", Buffer.from([0x61, 0x2c, 0xff, 0xff, 0x0a])],
] as const)("a file with signs that are none of %s is not read (AMB-133)", async (encoding, bytes) => {
  await expect(read(bytes, 100, { encoding })).rejects.toThrow("none of");
});

it("a last line without an end ends with its file, whatever its encoding (AMB-133, IMP-2)", async () => {
  const bytes = encoderOf("gbk")("id,名\n1,张三\n2,李四");
  for (const size of [1, 5, 100]) {
    const ends = (await read(bytes, size, { encoding: "gbk" })).map(({ end }) => end);
    expect(ends).toEqual([6, 13, bytes.length]);
  }
});

it.each(["sep=;\r\nx;y\r\n", '\uFEFF"sep=;"\nx;y\n', "SEP=;\rx;y\r"])(
  "%j: the line is no row (AMB-133)",
  async (text) => {
    const records = await read(Buffer.from(text), 4);
    expect(cellsOf(records)).toEqual([["x", "y"]]);
    expect(cellsOf(await read(Buffer.from(text).subarray(records[0]!.end), 4, { delimiter: ";" }))).toEqual([]);
  },
);

describe.each([1, 2, 5, 1_000])("in pieces of %i bytes", (size) => {
  it.each([
    ['a,="0151",b\n', [["a", '="0151"', "b"]]],
    [
      'a,17" wide,b\r\nc,d,e\r\n',
      [
        ["a", '17" wide', "b"],
        ["c", "d", "e"],
      ],
    ],
    [
      '"Bob "Al" Doe",x\ny,z\n',
      [
        ['"Bob "Al" Doe"', "x"],
        ["y", "z"],
      ],
    ],
    [
      'a,"Bob,no\r\nb,"Al, B.",yes\r\n\r\nc,d,e\r\n',
      [
        ["a", '"Bob', "no"],
        ["b", "Al, B.", "yes"],
        ["c", "d", "e"],
      ],
    ],
    ['a,"""Hi"" he\nsaid",b\n', [["a", '"Hi" he\nsaid', "b"]]],
  ])("%j: a quote out of place costs no other row (AMB-133, IMP-2)", async (text, rows) => {
    const bytes = Buffer.from(text);
    const records = await read(bytes, size, { delimiter: "," });
    expect(cellsOf(records)).toEqual(rows);
    for (const [i, { end }] of records.entries())
      expect(cellsOf(await read(bytes.subarray(end), size, { delimiter: "," }))).toEqual(rows.slice(i + 1));
  });
});

it.each([
  ["Subscribers\n\nEmail;Name\na@example.com;A, B\n", ";"],
  ["Email\na@example.com;b@example.com\n", ","],
  ["Report,,\nEmail,Name,\n", ","],
])("%j: a title shows no delimiter (AMB-133)", async (text, delimiter) => {
  expect((await read(Buffer.from(text), 9)).at(-1)?.delimiter).toBe(delimiter);
});

it("the line may name any delimiter (AMB-133)", async () => {
  expect(cellsOf(await read(Buffer.from("sep=|\nx|y,z\n"), 9))).toEqual([["x", "y,z"]]);
});

it.each([
  ["an end within a character", Buffer.from([0x61, 0xc3])],
  ["a byte of windows-1252", Buffer.from("Zo\xeb,x\n", "latin1")],
])("%s is no UTF-8 (AMB-133)", async (_, bytes) => {
  await expect(read(bytes, 2)).rejects.toThrow("the file is not UTF-8 text");
});

it("the mark of a file that was joined to another is no part of a cell (AMB-133)", async () => {
  const records = await read(Buffer.from('id;note\nu1;a\n\uFEFF"u2";"b;c"\nu3;d\n'), 3);
  expect(cellsOf(records)).toEqual([
    ["id", "note"],
    ["u1", "a"],
    ["u2", "b;c"],
    ["u3", "d"],
  ]);
  expect(records.at(-1)?.end).toBe(32);
});

it.each(["Status (1 = active, 0 = left, 9 = dead)", "Status [1 = active, 0 = left, 9 = dead]"])(
  "commas in a remark of the header divide no cells: %s (AMB-133)",
  async (status) => {
    const records = await read(Buffer.from(`email;${status}\na@x.example;0\n`), 64);

    expect(cellsOf(records)).toEqual([
      ["email", status],
      ["a@x.example", "0"],
    ]);
  },
);
