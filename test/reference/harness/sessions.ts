// A user signs in, and goes on with what comes from the session: on both sides the same may go on (AMB-145).
import type { Body } from "../model/kit.ts";
import { type SessionStep, takeStep } from "../model/sessions.ts";
import type { Failure, Sides } from "./sides.ts";
import { tell } from "./sides.ts";

const EMAIL = "ada@analytical.example";
const PASSWORD = "correct horse battery staple";

export const ROUTES: Record<SessionStep["does"], string> = {
  register: "/api/v1/auth/register",
  login: "/api/v1/auth/login",
  switch: "/api/v1/auth/switch",
  "read-only": "/api/v1/auth/tokens/read-only",
  refresh: "/api/v1/auth/refresh",
  logout: "/api/v1/auth/logout",
  read: "/api/v1/templates",
  write: "/api/v1/templates",
};

function bodyOf({ does }: SessionStep, tokens: Body, number: number): Body {
  if (does === "register") return { email: EMAIL, password: PASSWORD, name: "Ada", workspace_name: "Engines" };
  if (does === "login") return { email: EMAIL, password: PASSWORD };
  if (does === "switch") return { tenant_id: JSON.parse(atob(tokens.access_token.split(".")[1])).tid };
  if (does === "refresh" || does === "logout") return { refresh_token: tokens.refresh_token };
  return does === "write" ? { name: `Template ${number}`, content: { title: "Hello", body: "World" } } : undefined;
}

export async function useSession(sides: Sides, step: SessionStep, number: number): Promise<Failure | undefined> {
  const { product, reference, tokens } = sides;
  const { does, name, of } = step;
  const held = tokens.get(of);
  // What it would be asked with was never given.
  if (of && !held) return undefined;
  const isOpen = does === "register" || does === "login" || does === "refresh" || does === "logout";
  const got = await product.call({
    ...{ method: does === "read" ? "GET" : "POST", path: ROUTES[does], query: {}, headers: {} },
    ...{ body: bodyOf(step, held, number), as: isOpen ? "none" : `bearer:${held.access_token}` },
  });
  tell(sides, `${of || name}: ${does} → ${got.status}`);
  const expected = takeStep(reference.world, step);
  if (got.status !== expected)
    return { path: "status", expected, got: got.status, command: number, route: ROUTES[does] };
  if (got.body?.access_token) tokens.set(does === "refresh" ? of : name, { ...held, ...got.body });
  return undefined;
}
