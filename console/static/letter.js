addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data?.html !== "string") return;
  document.body.innerHTML = data.html;
  const tell = () => parent.postMessage({ letterHeight: document.documentElement.offsetHeight }, "*");
  tell();
  new ResizeObserver(tell).observe(document.documentElement);
});
// The frame opens nothing itself: the page that shows the mail knows whether its links lead anywhere.
addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link) return;
  event.preventDefault();
  parent.postMessage({ letterLink: link.href }, "*");
});
// The editor of mails marks its blocks.
addEventListener("click", ({ target }) => {
  const block = target.closest("[data-block]");
  if (!block) return;
  parent.postMessage({ letterBlock: block.dataset.block }, "*");
});
parent.postMessage({ letterReady: true }, "*");
