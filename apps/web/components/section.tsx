import type { ReactNode } from "react"

interface SectionProps {
  readonly title: string
  readonly says?: ReactNode
  readonly children?: ReactNode
}

/** A titled section of a page. */
export function Section({ title, says, children }: SectionProps) {
  return (
    <section aria-label={title} className="mb-8">
      <h2 className="mb-1 font-serif text-xl">{title}</h2>
      {says && <div className="mb-3 text-sm text-soft">{says}</div>}
      {children}
    </section>
  )
}

/** A list of items of one kind. */
export const ItemList = ({ children }: { readonly children: ReactNode }) => (
  <ul className="divide-y divide-line rounded-2xl border border-line bg-surface text-sm">{children}</ul>
)

export const Command = ({ children }: { readonly children: string }) => (
  <pre
    tabIndex={0}
    className="overflow-x-auto rounded-xl border border-line bg-surface px-4 py-3 font-mono text-[13px] text-ink"
  >
    {children}
  </pre>
)
