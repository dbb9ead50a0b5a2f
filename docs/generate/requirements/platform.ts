// What the requirements demand of the architecture.
import type { Areas } from "./areas.ts";

export const platform: Areas = {
  "Architecture (ARC)": {
    "ARC-1": "A file too large for the gateway is uploaded to S3 by a presigned form, and imported by its id.",
    "ARC-2": "Assets are small enough for the gateway.",
    "ARC-3": "A live stream ends before its function does, says when to reconnect, and polls the table meanwhile.",
    "ARC-4": "Webhook retries are delayed messages.",
    "ARC-5": "Delays are due rows, woken by one-time schedules.",
    "ARC-6": "The export walks partitions of days by a cursor that holds its end fixed.",
    "ARC-7": "Totals come from counts, not from scans.",
    "ARC-8": "The per-minute limit is one counter a workspace and minute, checked right after authentication.",
    "ARC-9": "Only event ingestion caches credentials.",
    "ARC-10": "Sending and canceling compete for one conditional write.",
    "ARC-11": "The id of a job follows from campaign and message.",
    "ARC-12": "Erasure takes the subscriber out of the ledger and leaves its rows.",
    "ARC-13": "Credentials are sealed by KMS for one workspace and channel.",
    "ARC-14": "All time comes from one clock, which tests can move.",
    "ARC-15": "Long work stops before its timeout and goes on in another message.",
    "ARC-16": "Requests to addresses that customers name go to public hosts alone.",
  },
};
