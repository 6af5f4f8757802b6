import type { ReactNode } from "react"
import { ExternalLink, Image } from "../components/icons.tsx"
import { Plain } from "../components/plain.tsx"
import { t } from "../strings/strings.ts"

/**
 * Addresses that may be followed from a reply. All others, such as `javascript:` and paths of this page, are shown as
 * text.
 */
export function toSafeAddress(address: string): string {
  if (!/^(https?|mailto):/i.test(address)) return ""
  const url = URL.parse(address)
  return url && ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : ""
}

interface SafeLinkProps {
  readonly href: string | undefined
  readonly children: ReactNode
}

/** A link that shows its target, whatever its text says. */
export function SafeLink({ href, children }: SafeLinkProps) {
  if (!href) return <span>{children}</span>
  const words = typeof children === "string" ? children : ""
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {children}
      {!isTextOfUrl(words, href) && (
        <span className="text-[0.85em] text-faint">
          {" "}
          (<Plain text={linkTarget(href)} />)
        </span>
      )}
      <ExternalLink className="ml-0.5 inline size-3 align-baseline" aria-label={t("markdown.newTab")} />
    </a>
  )
}

/**
 * Loading an image would report to its host that it was seen, and any data in its address. So only its alternative text
 * is shown.
 */
export function ImageLink({ src, alt }: { readonly src: string | undefined; readonly alt: string | undefined }) {
  const words = alt?.trim() || t("markdown.image")
  return (
    <span className="inline-flex max-w-full items-baseline gap-1 rounded-md border border-line bg-sunken px-1.5 text-[0.9em]">
      <Image className="size-3.5 shrink-0 self-center text-faint" aria-label={t("markdown.imageNotLoaded")} />
      {src ? (
        <SafeLink href={toSafeAddress(src)}>
          <Plain text={words} />
        </SafeLink>
      ) : (
        <Plain text={words} />
      )}
    </span>
  )
}

/** The target of a link in short: a host or an e-mail address. */
export function linkTarget(href: string): string {
  const { protocol, host, pathname } = new URL(href)
  return protocol === "mailto:" ? pathname : host
}

/**
 * True if a link's text is its full address. Only then the target need not be shown. Containing the address is not
 * enough (`mybank.com/login` may lead to `bank.co`). The browser writes hosts in ASCII, so look-alike letters never
 * count as equal.
 */
export function isTextOfUrl(text: string, href: string): boolean {
  const { protocol } = new URL(href)
  const short = href.slice(protocol.length).replace(/^\/\//, "")
  const spellings = [linkTarget(href), href, short].flatMap((one) => [one, one.replace(/\/$/, "")])
  return spellings.includes(text.trim())
}
