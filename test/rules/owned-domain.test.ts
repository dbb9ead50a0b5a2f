// What a limit of a domain counts together.
import { expect, it } from "vitest";
import { ownedDomainOf } from "../../shared/rules/addresses.ts";

it.each([
  ["shop.example", "shop.example"],
  ["a.b.Shop.example", "shop.example"],
  ["mail.shop.co.uk", "shop.co.uk"],
  ["shop.co.uk", "shop.co.uk"],
  ["x.abc.de", "abc.de"],
  ["co.uk", "co.uk"],
  ["mail.shop.com.example", "com.example"],
  ["xn--bcher-kva.example", "xn--bcher-kva.example"],
])("%s is counted with %s (LIM-4)", (domain, owned) => {
  expect(ownedDomainOf(domain)).toBe(owned);
});
