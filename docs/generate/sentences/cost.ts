// Sentences for what things cost (F10).
export const costSentences: Record<string, string> = {
  cost: "What it would cost at list prices, an estimate",
  price_per_message: "What the provider charges for a message, in US dollars; `null` removes it",
  dollars: "All of it, in US dollars",
  provider_dollars: "Of that, what the providers charge",
  queue_messages: "Messages of queues",
  read_units: "Read units of the table",
  service_dollars: "Of that, the table, the queues and the functions",
  unpriced: "The types of channels without a price: their messages are not in it",
  write_units: "Write units of the table",
};
