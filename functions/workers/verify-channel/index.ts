// Asks a channel's provider whether its credentials work; one that needs none is right as it is (D-INAPP-CH).
import { storeWrite } from "../../../shared/resources.ts";
import { acceptChannel, findVerification } from "../../../shared/store/verifications.ts";
import { queueWorker } from "../../../shared/worker.ts";

export const verifyChannel = queueWorker(
  "verify-channel",
  "Verifies the credentials of a channel with its provider.",
  [storeWrite],
  async ({ channel, verification }, { store }) => {
    const open = await findVerification(store, channel, verification);
    if (open?.channel.type === "in_app") await acceptChannel(store, open);
  },
);
