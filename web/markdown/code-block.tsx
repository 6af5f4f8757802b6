import { isValidElement, type ReactNode, useRef } from "react"
import { CopyButton } from "../parts/copy-button.tsx"

/** Code as it is, with its language and a way to take it along. It is read from the left, whatever stands around it. */
export function CodeBlock({ children }: { readonly children: ReactNode }) {
  const ref = useRef<HTMLPreElement>(null)
  const language = languageOf(children)
  return (
    <div dir="ltr" className="code-block overflow-hidden rounded-xl border border-line bg-sunken">
      <div className="flex items-center justify-between py-1 pr-1 pl-3.5 text-xs text-faint">
        <span className="font-mono">{language}</span>
        <CopyButton what="code" read={() => ref.current?.textContent ?? ""} />
      </div>
      <pre ref={ref} tabIndex={0} className="overflow-x-auto px-3.5 pb-3">
        {children}
      </pre>
    </div>
  )
}

function languageOf(children: ReactNode): string {
  if (!isValidElement<{ className?: string }>(children)) return "text"
  return /language-([\w+#.-]{1,30})/.exec(children.props.className ?? "")?.[1] ?? "text"
}
