// Sentences for what things cost (F10).
export const costSentences: Record<string, string> = {
  cost: "What it would cost at list prices, an estimate",
  dollars: "All of it, in US dollars",
  provider_dollars: "Of that, mails by SES; the prices of other providers are not in it",
  queue_messages: "Messages of queues",
  read_units: "Read units of the table",
  service_dollars: "Of that, the table, the queues and the functions",
  write_units: "Write units of the table",
};
