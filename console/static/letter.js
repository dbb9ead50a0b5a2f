addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data?.html !== "string") return;
  document.body.innerHTML = data.html;
  for (const link of document.links) link.target = "_blank";
  const tell = () => parent.postMessage({ letterHeight: document.documentElement.offsetHeight }, "*");
  tell();
  new ResizeObserver(tell).observe(document.documentElement);
});
parent.postMessage({ letterReady: true }, "*");
