import type { ComponentProps } from "react"
import { base } from "../state/base.ts"
import { navigate } from "../state/router.ts"

interface LinkProps extends Omit<ComponentProps<"a">, "href"> {
  /** An address of the page itself. */
  readonly to: string
}

/** Leads to another page of ours: at once by a plain click, in a tab of its own where the person wants that. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  return (
    <a
      href={base + to}
      onClick={(event) => {
        onClick?.(event)
        if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        navigate(to)
      }}
      {...rest}
    />
  )
}
