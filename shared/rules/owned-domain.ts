// The domain that somebody registered, of one that may lie below it: whoever has it has any number of others.

/** Below these, countries have registered names, as in `shop.co.uk`. */
const SHARED = new Set("ac co com edu go gob gouv gov gr gv id ltd me mil ne net nhs nom or org plc sch".split(" "));

/** Of `mail.shop.example` and `mail.shop.co.uk`, `shop.example` and `shop.co.uk` (docs/decisions/0153). */
export function ownedDomainOf(domain: string): string {
  const labels = domain.toLowerCase().split(".");
  const [second = "", first = ""] = labels.slice(-2);
  const isOfCountry = first.length === 2 && SHARED.has(second);
  return labels.slice(isOfCountry ? -3 : -2).join(".");
}
