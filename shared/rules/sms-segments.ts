// The encoding of an SMS, and the number of parts that it is sent and billed as (GSM 03.38).

const BASIC = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà^{}\\[~\]|€]*$/;
/** Characters of the extension table take two places. */
const EXTENDED = new Set("\f^{}\\[~]|€");

const LIMITS = { gsm7: { single: 160, part: 153 }, ucs2: { single: 70, part: 67 } } as const;

/** The provider splits a text into parts up to this length, in UTF-16 code units. */
export const MAX_SMS = 3_200;

/** Whether a text is of the GSM alphabet with its extension: any other character requires UCS-2. */
export const isGsm = (text: string): boolean => BASIC.test(text);

/**
 * `characters`: the places of the text in its encoding. A character of two places is never split: one that does not fit
 * at the end of a part begins the next one.
 */
export function smsSegments(text: string): { encoding: "gsm7" | "ucs2"; characters: number; segments: number } {
  const encoding = isGsm(text) ? "gsm7" : "ucs2";
  const { single, part } = LIMITS[encoding];
  let characters = 0;
  let parts = 1;
  let inPart = 0;
  for (const character of text) {
    const septets = EXTENDED.has(character) ? 2 : 1;
    const places = encoding === "ucs2" ? character.length : septets;
    characters += places;
    inPart += places;
    if (inPart <= part) continue;
    parts++;
    inPart = places;
  }
  return { encoding, characters, segments: characters <= single ? 1 : parts };
}
