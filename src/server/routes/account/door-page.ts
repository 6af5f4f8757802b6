import { createHash } from "node:crypto"

interface DoorPage {
  readonly title: string
  /** Its script, by its address from the page. */
  readonly script: string
  /** What stands in it, as HTML of ours: nobody else's words are ever put into it. */
  readonly body: string
}

/**
 * A page of the door: where people sign in, are sent back to, and let programs in. It is made of nothing but itself, so that
 * it is there also where the page of the server is not built, and has its colours. Paths are relative, so that it works
 * behind a proxy that puts the server below a path.
 */
export const doorPage = ({ title, script, body }: DoorPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
<script src="${script}" defer></script>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`

const style = `:root { color-scheme: light dark }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#fbfaf8, #171817); color: light-dark(#56524b, #bab6ad);
  font: 15px/1.6 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", "Liberation Sans", Arial, sans-serif }
main { box-sizing: border-box; width: 100%; max-width: 31rem; padding: 1.5rem }
svg { width: 44px; height: 44px; margin-bottom: 1rem }
h1 { margin: 0 0 .75rem; color: light-dark(#1d1c1a, #eceae5); font: 1.9rem/1.2 ui-serif, "Iowan Old Style", Palatino, Georgia, "Liberation Serif", serif }
p { margin: 0 0 .75rem; overflow-wrap: anywhere }
pre { margin: 0 0 1rem; padding: .75rem 1rem; overflow-x: auto; border: 1px solid light-dark(#e5e1da, #343734); border-radius: .75rem;
  background: light-dark(#ffffff, #1f2120); color: light-dark(#1d1c1a, #eceae5); font: .875rem ui-monospace, Menlo, Consolas, "Liberation Mono", monospace }
button, a { display: inline-block; padding: .4rem 1rem; border: 0; border-radius: .6rem; font: inherit; font-weight: 500; text-decoration: none; cursor: pointer;
  background: light-dark(#1f5f52, #7cc4b0); color: light-dark(#ffffff, #0d2019) }
:focus-visible { outline: 2px solid light-dark(#1f5f52, #7cc4b0); outline-offset: 2px }
[hidden] { display: none }`

const styleHash = createHash("sha256").update(style).digest("base64")

export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'sha256-${styleHash}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")
