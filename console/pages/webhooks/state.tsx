// Whether an endpoint is served, as a badge.
import type { Webhook } from "../../../sdk/src/types.gen.ts";
import { Badge } from "../../components/badge.tsx";

export function EndpointState({ endpoint }: { endpoint: Webhook }) {
  const { active, disabled_at, consecutive_failures: failures } = endpoint;
  if (disabled_at) return <Badge state="failed" word="switched off after failures" />;
  if (!active) return <Badge state="paused" word="turned off" />;
  return failures > 0 ? <Badge state="retrying" word={`${failures} failed in a row`} /> : <Badge state="active" />;
}
