// Variables of a text that nobody's values fill, as people read them.
import { expect, it } from "vitest";
import { inPlain, liquidOf } from "../../shared/rules/placeholders.ts";

it("a variable is called what it is, and the rest of a text stays (CON-3)", () => {
  expect(inPlain("{{ subscriber.first_name | default: 'you' }}, 20% off {{event.cart.total}}")).toBe(
    "[first name], 20% off [cart total]",
  );
  expect(inPlain(`{{ subscriber["first name"] }} of {{ event['größe'].cart-size }}`)).toBe(
    "[first name] of [größe cart-size]",
  );
  expect(inPlain("{% if subscriber.plan %}Pro{% endif %} {{ 1 | plus: 1 }}")).toBe(
    "{% if subscriber.plan %}Pro{% endif %} {{ 1 | plus: 1 }}",
  );
});

it("a name that is no word of Liquid stands in brackets (D-LIQUID)", () => {
  expect(liquidOf("subscriber.first_name")).toBe("subscriber.first_name");
  expect(liquidOf("subscriber.first name")).toBe('subscriber["first name"]');
});
