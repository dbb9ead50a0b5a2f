// What limits of a domain and of a mailbox count together.
import { expect, it } from "vitest";
import { mailboxOf, ownedDomainOf } from "../../shared/rules/addresses.ts";

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

it.each([
  ["ada@navy.example", "ada@navy.example"],
  ["ada+news@navy.example", "ada@navy.example"],
  ["ada+a+b@navy.example", "ada@navy.example"],
  ["+15550100@carrier.example", "+15550100@carrier.example"],
  ["+15550100+news@carrier.example", "+15550100@carrier.example"],
])("mail to %s counts for the mailbox %s (LIM-4)", (address, mailbox) => {
  expect(mailboxOf(address)).toBe(mailbox);
});
