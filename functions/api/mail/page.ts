// The pages of links in mails. They load no resources, run no scripts, and contain nothing about the reader.

/** Allows only a form to the same origin, and keeps the token out of referrers and search engines. */
export const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex, nofollow",
};

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 4rem auto; max-width: 30rem; padding: 0 1rem; color: #222; background: #fff }
button { font: inherit; padding: .5rem 1rem; cursor: pointer }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;

/** Its form posts to the address of the page: opening it changes nothing. */
export const unsubscribePage = page(
  "Unsubscribe",
  `<p>You will get no more marketing e-mail from this sender.</p>
<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>`,
);

/** For a link whose target no longer exists as it was sent. It leads nowhere. */
export const staleLinkPage = page("This link has expired", "<p>The page that it led to is no longer known.</p>");

export const confirmationPage = page(
  "You are unsubscribed",
  "<p>You will get no more marketing e-mail from this sender.</p>",
);
