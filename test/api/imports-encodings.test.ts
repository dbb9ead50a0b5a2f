// Files of imports in encodings that are no Unicode: read as what they are, or not at all (AMB-133).
import { expect, it } from "vitest";
import { importing } from "../support/imports.ts";
import { encoderOf } from "../support/legacy-text.ts";
import { worlds } from "../support/worlds.ts";

const setting = importing(worlds());

it("the opt-outs of a file in GBK are kept, whose columns are named in it (AMB-133, AMB-132)", async () => {
  const { run, consents } = await setting();
  const file = encoderOf("gbk")(
    "用户id,邮箱,姓名,退订时间\nx1,x1@example.com,张三,2024-01-02\nx2,x2@example.com,李四,\n",
  );

  expect(await run(file)).toMatchObject({ status: "completed", encoding: "gbk", consent_summary: { opted_out: 1 } });

  expect(await consents("x1")).toMatchObject([{ status: "opted_out", consented_at: "2024-01-02T00:00:00.000Z" }]);
  expect(await consents("x2")).toEqual([]);
});

it("a file in an encoding that nothing shows is read once it is named, and before it asks (AMB-133)", async () => {
  const { run, attributes } = await setting();
  const file = encoderOf("gbk")("external_id,first_name\nx1,张三\nx2,李四\n");

  const asks = await run(file);
  const done = await run(file, { encoding: "GB2312" });

  expect([asks.status, asks.error_message]).toEqual(["failed", expect.stringContaining("name it as `encoding`")]);
  expect([done.status, done.encoding]).toEqual(["completed", "gbk"]);
  expect(await attributes("x1")).toMatchObject({ first_name: "张三" });
});
