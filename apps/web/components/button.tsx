import { type ComponentProps, useState } from "react"
import { base } from "../state/client.ts"
import { navigate } from "../state/router.ts"
import { toast } from "../state/toasts.ts"
import { t } from "../strings/strings.ts"
import { Check, Copy } from "./icons.tsx"

type Look = "plain" | "quiet" | "main" | "danger" | "delete"

interface ButtonProps extends ComponentProps<"button"> {
  readonly look?: Look
  readonly small?: boolean
}

const LOOKS: Record<Look, string> = {
  plain: "border-line bg-surface text-ink hover:bg-sunken",
  quiet: "border-transparent text-soft hover:bg-sunken hover:text-ink",
  main: "border-transparent bg-accent text-accent-ink hover:opacity-90",
  danger: "border-transparent bg-danger-soft text-danger hover:opacity-90",
  // A primary action that deletes something.
  delete: "border-transparent bg-danger text-danger-ink hover:opacity-90",
}

export function Button({ look = "plain", small = false, className = "", type = "button", ...rest }: ButtonProps) {
  // Submit buttons set their type.
  return <button type={type} className={buttonClass({ look, small, className })} {...rest} />
}

interface ButtonLinkProps extends ComponentProps<typeof Link> {
  readonly look?: Look
  readonly small?: boolean
}

/** A link that looks like a button. */
export function ButtonLink({ look = "plain", small = false, className = "", ...rest }: ButtonLinkProps) {
  return <Link className={buttonClass({ look, small, className })} {...rest} />
}

interface IconProps {
  /** The label for screen readers. */
  readonly label: string
  readonly small?: boolean
}

export function IconButton({
  label,
  small = false,
  className = "",
  type = "button",
  ...rest
}: IconProps & ComponentProps<"button">) {
  return <button type={type} aria-label={label} title={label} className={iconClass(small, className)} {...rest} />
}

/** A link that looks like an `IconButton`. */
export function IconLink({ label, small = false, className = "", ...rest }: IconProps & ComponentProps<typeof Link>) {
  return <Link aria-label={label} title={label} className={iconClass(small, className)} {...rest} />
}

interface Drawn {
  readonly look: Look
  readonly small: boolean
  readonly className: string
}

const buttonClass = ({ look, small, className }: Drawn): string =>
  `inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg border font-medium whitespace-nowrap transition-colors disabled:opacity-45 ${small ? "h-8 px-2.5 text-[13px]" : "h-9 px-3.5 text-sm"} ${LOOKS[look]} ${className}`

const iconClass = (small: boolean, className: string): string =>
  `inline-flex ${small ? "size-7" : "size-8"} shrink-0 items-center justify-center rounded-lg text-soft transition-colors hover:bg-sunken hover:text-ink disabled:opacity-45 ${className}`

interface LinkProps extends Omit<ComponentProps<"a">, "href"> {
  /** A path of this page. */
  readonly to: string
  /** Replaces the navigation of a plain click, for example to open a dialog. */
  readonly onPlainClick?: () => void
}

/** A link to another page of ours: a plain click navigates, a modified one opens a tab. */
export function Link({ to, onClick, onPlainClick = () => navigate(to), ...rest }: LinkProps) {
  return (
    <a
      href={base + to}
      onClick={(event) => {
        onClick?.(event)
        const { button, ctrlKey, metaKey, shiftKey, altKey } = event
        if (event.defaultPrevented || button !== 0 || ctrlKey || metaKey || shiftKey || altKey) return
        event.preventDefault()
        onPlainClick()
      }}
      {...rest}
    />
  )
}

interface CopyButtonProps {
  /** The label of the button, such as “Copy the link”. */
  readonly label: string
  readonly read: () => string | Promise<string>
}

export function CopyButton({ label, read }: CopyButtonProps) {
  const [done, setDone] = useState(false)
  const copy = async () => {
    const text = await read()
    try {
      await navigator.clipboard.writeText(text)
      setDone(true)
      setTimeout(() => setDone(false), 1500)
    } catch {
      // Browsers block the clipboard on pages loaded over plain http from another machine.
      toast(t("common.copyFailed"), "bad")
    }
  }
  return (
    <IconButton label={done ? t("common.copied") : label} onClick={() => void copy().catch(() => {})} small>
      {done ? <Check className="size-3.5 text-good" /> : <Copy className="size-3.5" />}
    </IconButton>
  )
}
