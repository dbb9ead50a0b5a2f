// How an SMS is encoded, and how many parts it is sent and billed as (GSM 03.38).

const BASIC = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà^{}\\[~\]|€]*$/;
/** Characters of the extension table take two places. */
const EXTENDED = /[\f^{}\\[~\]|€]/g;

const LIMITS = { gsm7: { single: 160, part: 153 }, ucs2: { single: 70, part: 67 } } as const;

/** The provider splits a text into parts up to this length, in UTF-16 code units. */
export const MAX_SMS = 3_200;

/** Whether a text is of the GSM alphabet with its extension: any other character requires UCS-2. */
export const isGsm = (text: string): boolean => BASIC.test(text);

/** `characters`: the places that the text takes in its encoding. */
export function smsSegments(text: string): { encoding: "gsm7" | "ucs2"; characters: number; segments: number } {
  const encoding = isGsm(text) ? "gsm7" : "ucs2";
  const characters = encoding === "gsm7" ? text.length + (text.match(EXTENDED)?.length ?? 0) : text.length;
  const { single, part } = LIMITS[encoding];
  return { encoding, characters, segments: characters <= single ? 1 : Math.ceil(characters / part) };
}
