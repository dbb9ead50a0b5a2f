// The words of the form of an endpoint.
export const texts = {
  target_url: { label: "URL", hint: "A public https URL of your server." },
  events: { label: "Events" },
  description: { label: "Description" },
};
