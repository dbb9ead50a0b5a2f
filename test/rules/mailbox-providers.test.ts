// Who runs the mailbox of an address (docs/decisions/0149).
import { expect, it } from "vitest";
import { knownProviders, mailboxProviderOf } from "../../shared/rules/mailbox-providers.ts";
import { mailboxProviderOf as ofReference } from "../reference/model/deliverability.ts";

const ADDRESSES = {
  gmail: ["ada@gmail.com", "ada@googlemail.com"],
  microsoft: ["ada@outlook.com", "ada@hotmail.co.uk", "ada@live.nl", "ada@outlook.com.br", "ada@msn.com"],
  yahoo: ["ada@yahoo.com", "ada@yahoo.co.uk", "ada@aol.de", "ada@ymail.com"],
  apple: ["ada@icloud.com", "ada@me.com"],
  gmx: ["ada@gmx.de", "ada@gmx.net", "ada@web.de"],
  t_online: ["ada@t-online.de"],
  orange: ["ada@orange.fr", "ada@wanadoo.fr"],
  free: ["ada@free.fr"],
  libero: ["ada@libero.it"],
  seznam: ["ada@seznam.cz", "ada@email.cz"],
  mail_ru: ["ada@mail.ru", "ada@bk.ru"],
  proton: ["ada@proton.me", "ada@pm.me"],
  qq: ["1@qq.com", "ada@foxmail.com"],
  netease: ["ada@163.com", "ada@126.com"],
};

const OTHERS = [
  ...["ada@example.com", "ada@mail.gmail.com", "ada@gmail.com.example.org", "ada@notgmail.com", "ada@gmail.de"],
  ...[
    "ada@yahoo.co.jp",
    "ada@outlook.example.com",
    "ada@live.technology",
    "gmail.com@example.com",
    "ada@xn--gml-6na.com",
  ],
];

it.each(knownProviders)("%s is known by the domain of an address (docs/decisions/0149)", (provider) => {
  expect(ADDRESSES[provider].map(mailboxProviderOf)).toEqual(ADDRESSES[provider].map(() => provider));
});

it("a domain that only looks like one of a provider is of none (docs/decisions/0149)", () => {
  expect(OTHERS.map(mailboxProviderOf)).toEqual(OTHERS.map(() => undefined));
});

it("the reference names the same providers (docs/decisions/0149)", () => {
  for (const address of [...Object.values(ADDRESSES).flat(), ...OTHERS])
    expect([address, ofReference(address)]).toEqual([address, mailboxProviderOf(address) ?? "other"]);
});
