// Endpoints of Pinpoint become people, devices, consents and members of lists.
import { expect, it } from "vitest";
import { convertedOf } from "./support/pinpoint-converted.ts";

it("endpoints of a CSV become people, and those of an imported segment its members (F26)", async () => {
  const csv =
    "ChannelType,Address,Id,OptOut,User.UserId,User.UserAttributes.plan,Attributes.likes,Attributes.likes,Metrics.age\n" +
    'EMAIL,ada@example.com,e-1,ALL,ada,"pro, yearly","[""music"",""film""]",sport,36\nSMS,+447700900123,e-2,NONE,bob,,,,\n';
  const segment = { Id: "seg-1", Name: "Fair", SegmentType: "IMPORT" };
  const { counts, get } = await convertedOf(
    { "segments.json": JSON.stringify({ Item: [segment] }), "seg-1/part-0.csv": csv },
    "--people",
  );
  expect(counts).toMatchObject({ "endpoints written": 2, "members of lists written": 2, "lists written": 1 });
  const { items } = await get("/api/v1/subscribers");
  const ada = items.find((item: { external_id: string }) => item.external_id === "ada");
  expect([ada.email, JSON.parse(ada.attributes)]).toEqual([
    "ada@example.com",
    { plan: "pro, yearly", likes: ["music", "film", "sport"], age: 36 },
  ]);
  expect((await get(`/api/v1/subscribers/${ada.id}`)).consents).toMatchObject([{ status: "opted_out" }]);
});

it("an opt-out of calls is one of texts, an inactive address is not written, and both are kept or named (F26)", async () => {
  const endpoint = (more: object) => JSON.stringify({ OptOut: "NONE", ...more });
  const lines = [
    endpoint({
      ...{ Id: "v", ChannelType: "VOICE", Address: "+447700900123" },
      OptOut: "ALL",
      User: { UserId: "bob" },
    }),
    endpoint({
      ...{ Id: "m", ChannelType: "EMAIL", Address: "eve@example.com" },
      EndpointStatus: "INACTIVE",
      OptOut: "ALL",
      User: { UserId: "eve" },
    }),
    endpoint({
      ...{ Id: "a", ChannelType: "EMAIL", Address: "ada@example.com" },
      Attributes: { plan: ["free"] },
      User: { UserId: "ada", UserAttributes: { plan: ["pro"] } },
    }),
  ];
  const { counts, lost, get } = await convertedOf({ "endpoints.json": lines.join("\n") }, "--people");
  expect([counts["endpoints written"], lost.sort()]).toEqual([3, ["Attributes.plan", "EndpointStatus"]]);
  const people = (await get("/api/v1/subscribers")).items as { id: string; external_id: string; email?: string }[];
  const of = (name: string) => people.find(({ external_id }) => external_id === name)!;
  const consents = async (name: string) => (await get(`/api/v1/subscribers/${of(name).id}`)).consents;
  expect(await consents("bob")).toMatchObject([{ channel: "sms", status: "opted_out" }]);
  expect([of("eve").email, await consents("eve")]).toMatchObject([
    undefined,
    [{ channel: "email", status: "opted_out" }],
  ]);
});

it("endpoints of one user that say different things of it are named, those that say the same are not (F26)", async () => {
  const endpoint = (Id: string, UserId: string, plan: string) =>
    JSON.stringify({
      Id,
      ChannelType: "GCM",
      Address: `token-${Id}`,
      User: { UserId, UserAttributes: { plan: [plan] } },
    });
  const lines = [
    endpoint("e-1", "ada", "free"),
    endpoint("e-2", "ada", "pro"),
    endpoint("e-3", "bob", "pro"),
    endpoint("e-4", "bob", "pro"),
  ];

  const { counts, lost } = await convertedOf({ "endpoints.json": lines.join("\n") }, "--people");

  expect(counts["endpoints written"]).toBe(4);
  expect(lost).toEqual(["Attributes"]);
});

it("a line of a CSV may begin with an empty cell, and an opt-out may be written in any case (F26)", async () => {
  const csv =
    "Id,ChannelType,Address,OptOut,User.UserId,Metrics.age\n,EMAIL,ada@example.com,All,ada,old\n,EMAIL,bob@example.com,None,bob,36\n";
  const { counts, get } = await convertedOf({ "people.csv": csv }, "--people");
  expect(counts["endpoints written"]).toBe(2);
  const { items } = await get("/api/v1/subscribers");
  const of = (name: string) => items.find((item: { external_id: string }) => item.external_id === name);
  expect([of("ada").email, JSON.parse(of("ada").attributes), JSON.parse(of("bob").attributes)]).toEqual([
    "ada@example.com",
    { age: "old" },
    { age: 36 },
  ]);
  const consents = async (name: string) => (await get(`/api/v1/subscribers/${of(name).id}`)).consents;
  expect([await consents("ada"), await consents("bob")]).toMatchObject([[{ status: "opted_out" }], []]);
});

it("the file that was imported fills the list of its segment, and a segment without one is named (F26)", async () => {
  const found = { SegmentType: "IMPORT", ImportDefinition: { S3Url: "s3://bucket/fair/users.csv", Format: "CSV" } };
  const segments = {
    Item: [
      { Id: "seg-1", Name: "Fair", ...found },
      { Id: "seg-2", Name: "Gone", SegmentType: "IMPORT" },
    ],
  };
  const { counts, lost } = await convertedOf(
    { "segments.json": JSON.stringify(segments), "users.csv": "User.UserId\nada\n" },
    "--people",
  );
  expect([counts["members of lists written"], lost]).toEqual([1, ["ImportDefinition"]]);
});

it("members of an imported segment that are named by their users are members of its list (F26)", async () => {
  const segment = { Id: "seg-1", Name: "Fair", SegmentType: "IMPORT" };
  const csv = "User.UserId\nada\nbob\n";
  const { counts, lost } = await convertedOf(
    { "segments.json": JSON.stringify({ Item: [segment] }), "seg-1/users.csv": csv },
    "--people",
  );
  expect([counts["members of lists written"], lost]).toEqual([2, []]);
});

it("a cell whose quote is never closed is named, and the cells of a line with a lone quote are kept (F26)", async () => {
  const head = "ChannelType,Address,Id,User.UserId,Attributes.size\n";
  const row = (id: string, size: string) => `EMAIL,${id}@example.com,${id},${id},${size}\n`;
  const open = await convertedOf({ "people.csv": `${head}${row("ada", "1")}${row("bob", '"open')}${row("cyd", "2")}` });
  expect([open.counts["endpoints read"], open.lost]).toEqual([1, [""]]);
});
