import { ExternalLink } from "../icons/arrows.ts"
import { Image } from "../icons/things.ts"
import type { ReactNode } from "react"
import { Plain } from "../parts/plain.tsx"
import { areItsAddress, placeOf } from "./link-words.ts"

/** Addresses that a person may follow from a reply. Everything else, `javascript:` and our own paths too, is only text. */
export function toSafeAddress(address: string): string {
  if (!/^(https?|mailto):/i.test(address)) return ""
  const url = URL.parse(address)
  return url && ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : ""
}

interface WrittenLinkProps {
  readonly href: string | undefined
  readonly children: ReactNode
}

/** A link that shows where it leads, whatever its words say. */
export function WrittenLink({ href, children }: WrittenLinkProps) {
  if (!href) return <span>{children}</span>
  const words = typeof children === "string" ? children : ""
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {children}
      {!areItsAddress(words, href) && (
        <span className="text-[0.85em] text-faint">
          {" "}
          (<Plain text={placeOf(href)} />)
        </span>
      )}
      <ExternalLink className="ml-0.5 inline size-3 align-baseline" aria-label="opens in a new tab" />
    </a>
  )
}

/** Loading an image would tell its owner that it was looked at, and what stands in its address. Its words do not. */
export function WrittenImage({ src, alt }: { readonly src: string | undefined; readonly alt: string | undefined }) {
  const words = alt?.trim() || "image"
  return (
    <span className="inline-flex max-w-full items-baseline gap-1 rounded-md border border-line bg-sunken px-1.5 text-[0.9em]">
      <Image className="size-3.5 shrink-0 self-center text-faint" aria-label="Image, not loaded" />
      {src ? (
        <WrittenLink href={toSafeAddress(src)}>
          <Plain text={words} />
        </WrittenLink>
      ) : (
        <Plain text={words} />
      )}
    </span>
  )
}
