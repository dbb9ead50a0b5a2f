// The shapes of tokens in requests and responses of this group.
import * as v from "valibot";
import { titled } from "../../../shared/contract/schemas.ts";
import { ACCESS_TOKEN_SECONDS } from "../../../shared/http/tokens.ts";

export const RefreshToken = v.strictObject({ refresh_token: v.pipe(v.string(), v.maxLength(256)) });

export const AccessToken = titled("AccessToken", {
  access_token: v.string(),
  token_type: v.literal("Bearer"),
  expires_in: v.number(),
});

export const ENDED = "The refresh token is no longer valid.";

export const bearer = (access_token: string) => ({
  access_token,
  token_type: "Bearer" as const,
  expires_in: ACCESS_TOKEN_SECONDS,
});
