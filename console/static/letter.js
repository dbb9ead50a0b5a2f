addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data?.html !== "string") return;
  document.body.innerHTML = data.html;
  for (const link of document.links) {
    link.target = "_blank";
    if (data.isEdited) link.addEventListener("click", (event) => event.preventDefault());
  }
  const tell = () => parent.postMessage({ letterHeight: document.documentElement.offsetHeight }, "*");
  tell();
  new ResizeObserver(tell).observe(document.documentElement);
});
// The editor of mails marks its blocks.
addEventListener("click", ({ target }) => {
  const block = target.closest("[data-block]");
  if (!block) return;
  parent.postMessage({ letterBlock: block.dataset.block }, "*");
});
parent.postMessage({ letterReady: true }, "*");
