// Which encoding a file has that is no Unicode: its words show it, or nothing is guessed (AMB-133).
import { expect, it } from "vitest";
import { encodingOf } from "../../shared/store/files/encodings.ts";
import { legacyEncoding } from "../../shared/store/files/legacy-encodings.ts";
import { chunked, encoderOf } from "../support/legacy-text.ts";

const told = (encoding: string, text: string, size = 100) => legacyEncoding(chunked(encoderOf(encoding)(text), size));

it.each([
  ["Łukasz", "windows-1250"],
  ["fałsz", "windows-1250"],
  ["Paweł", "windows-1250"],
  ["Michał", "windows-1250"],
  ["12 m³, 5 £, ¡Sí! ¿Qué?", "windows-1252"],
  ["Zoë, Ünal, Élodie", "windows-1252"],
  ["Müller–Lüdenscheidt, GROßE O’Neil “q”, créée", "windows-1252"],
  ["メーメー", "shift_jis"],
  ["x,山田停", "shift_jis"],
  ["Отписан,да", "windows-1251"],
  ["Іван,Юрій", "windows-1251"],
  ["Müşteri No", "windows-1254"],
  ["Abonelikten Çıktı", "windows-1254"],
  ["E-posta İzni", "windows-1254"],
  ["Guðmundur Sigurðsson", "windows-1252"],
  ["Þorvaldur, Nýja gata", "windows-1252"],
])("a file of legacy text with %s is %s, by its words (AMB-133)", async (text, encoding) => {
  for (const size of [1, 100]) expect(await told(encoding, text, size)).toBe(encoding);
});

it.each([
  ["gbk", "用户id,邮箱,姓名,是否订阅\nx1,x1@example.com,张三,否\n"],
  ["big5", "會員編號,電子郵件,姓名,訂閱電子報\nx1,x1@example.com,陳大文,否\n"],
  ["euc-kr", "회원id,이메일,이름,수신동의\nx1,x1@example.com,김철수,거부\n"],
  ["euc-jp", "会員ID,メールアドレス,姓\nx1,x1@example.com,山田\n"],
  ["koi8-r", "email,телефон\nx1@example.com,Анна\n"],
])("a file in %s is read so where it names its columns in it: %s (AMB-133, AMB-132)", async (encoding, text) => {
  for (const size of [1, 100]) expect(await told(encoding, text, size)).toBe(encoding);
});

it.each([
  ["gbk", "张三,李四"],
  ["big5", "陳大文,許功蓋"],
  ["euc-kr", "김철수,이영희"],
  ["shift_jis", "山田,花子"],
  ["windows-1253", "Γιώργος,Μαρία"],
  ["windows-1256", "محمد,أحمد"],
  ["koi8-r", "Анна,Пётр"],
])("of a file in %s whose columns have names of ASCII nothing is guessed: %s (AMB-133)", async (encoding, names) => {
  const [first, second] = names.split(",");
  const text = `external_id,first_name\n1,${first}\n2,${second}\n`;
  await expect(told(encoding, text)).rejects.toThrow("nothing shows its encoding");
});

it("an encoding may be named by any of its labels (AMB-133)", () => {
  expect(["latin1", "gb2312", "sjis", "ks_c_5601-1987", "klingon"].map(encodingOf)).toEqual([
    "windows-1252",
    "gbk",
    "shift_jis",
    "euc-kr",
    "klingon",
  ]);
});
