// Passwords that an attacker would try first (AMB-77).
import { elementAt } from "./element-at.ts";

const MIN_PASSWORD_CHARACTERS = 12;
const MAX_PASSWORD_CHARACTERS = 1_024;

/** Common passwords of twelve and more characters, in lower case. */
const COMMON = new Set(
  `123456789012 1234567890123 12345678901234 123123123123 111222333444 112233445566 123456123456 123456654321
  123321123321 121212121212 147258369147 159753159753 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz2wsx3edc 1qazxsw23edc
  qazwsxedcrfv qazwsxedc123 qwertyuiop123 qwertyuiop12 qwertyuiop[] qwerty123456 qwerty1234567 qwerty12345678
  qwertyqwerty qwerty123qwe qweasdzxc123 qwe123qwe123 asdfghjkl123 asdfghjkl1234 zxcvbnm12345 asdfasdfasdf
  password1234 password12345 password123456 password1234567 password12345678 password123456789 passwordpassword
  password2020 password2021 password2022 password2023 password2024 password2025 password2026 password0000
  password123! password1234! p@ssw0rd1234 p@ssword1234 passw0rd1234 pa55word1234 mypassword123 mypassword1234
  newpassword1 newpassword123 changeme1234 changeme12345 changemeplease letmein12345 letmeinplease
  iloveyou1234 iloveyou12345 iloveyouforever iloveyousomuch welcome12345 welcome123456 welcome12345!
  administrator administrator1 admin1234567 admin12345678 admin123admin rootrootroot superuser123
  abcd12345678 abc123abc123 abc123456789 abcdef123456 a1b2c3d4e5f6 aa1234567890 aaaaaa111111
  football1234 baseball1234 basketball123 sunshine1234 princess1234 princess12345 superman1234 batman123456
  dragon123456 monkey123456 michael12345 charlie12345 jennifer1234 liverpool123 manchester12 manchesterunited
  chocolate123 strawberry12 butterfly123 pokemon12345 minecraft123 playstation3 starwars1234 computer1234
  internet1234 trustno1trustno1 secret123456 secretsecret testtesttest test12345678 testing12345 temporary123
  correcthorsebatterystaple thisisapassword thisismypassword nopassword123 summer2023summer winter2024winter`
    .split(/\s+/)
    .filter(Boolean),
);

const SEQUENCES = ["0123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm"];

/** Why a password is too weak, or undefined. @param personal what an attacker knows: email address, workspace name */
export function weaknessOf(password: string, personal: readonly string[]): string | undefined {
  if (password.length < MIN_PASSWORD_CHARACTERS) return `must have at least ${MIN_PASSWORD_CHARACTERS} characters`;
  if (password.length > MAX_PASSWORD_CHARACTERS) return `must have at most ${MAX_PASSWORD_CHARACTERS} characters`;
  const plain = password.toLowerCase();
  if (personal.some((text) => text.toLowerCase() === plain))
    return "must not be the email address or the workspace name";
  if (new Set(plain).size === 1) return "must not be one repeated character";
  if (isSequence(plain)) return "must not be a plain sequence";
  if (COMMON.has(plain)) return "is one of the most common passwords";
  return undefined;
}

/** Whether each character follows the one before it, in either direction, in a well-known row (wrapping around). */
function isSequence(text: string): boolean {
  return SEQUENCES.some((row) => {
    const places = [...text].map((character) => row.indexOf(character));
    if (places.includes(-1)) return false;
    return [1, row.length - 1].some((step) =>
      places.every((place, i) => i === 0 || place === (elementAt(places, i - 1) + step) % row.length),
    );
  });
}
