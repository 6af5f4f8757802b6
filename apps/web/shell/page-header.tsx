import { type ReactNode, useEffect } from "react"
import { Menu as MenuIcon } from "../components/icons.tsx"
import { ButtonLink, IconButton } from "../components/button.tsx"
import { escapeHidden } from "../../../client/index.ts"
import { Plain } from "../components/plain.tsx"
import { t } from "../strings/strings.ts"
import { useShell } from "./page.ts"

interface PageHeaderProps {
  readonly title: string
  /** Shown below the title in small text. */
  readonly under?: ReactNode
  readonly children?: ReactNode
}

/** The top line of a page: its title and its actions. */
export function PageHeader({ title, under, children }: PageHeaderProps) {
  const { openDrawer } = useShell()
  useEffect(() => {
    document.title = title === "Pawl" ? title : `${escapeHidden(title)} · Pawl`
  }, [title])
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 px-3 md:px-5">
      <IconButton label={t("shell.openSidebar")} onClick={openDrawer} className="md:hidden">
        <MenuIcon className="size-5" />
      </IconButton>
      <div className="min-w-0 flex-1">
        <h1 className={`truncate text-[15px] leading-snug font-medium ${title === "Pawl" ? "md:sr-only" : ""}`}>
          <Plain text={title} />
        </h1>
        {under}
      </div>
      {children}
    </header>
  )
}

interface TextPageProps extends PageHeaderProps {
  /** Buttons at the end of the header. */
  readonly actions?: ReactNode
  readonly width?: "max-w-3xl" | "max-w-4xl" | "max-w-6xl"
}

/** A page with a header and one column that scrolls. */
export function TextPage({ title, under, actions, width = "max-w-3xl", children }: TextPageProps) {
  return (
    <>
      <PageHeader title={title} under={under}>
        {actions}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className={`mx-auto w-full ${width} px-3 pb-8 md:px-6`}>{children}</div>
      </div>
    </>
  )
}

/** Shown instead of an empty list. */
export const EmptyPage = ({ title, hint }: { readonly title: string; readonly hint: string }) => (
  <div className="pt-[20vh] text-center">
    <h2 className="mb-2 font-serif text-2xl">{title}</h2>
    <p className="text-soft">{hint}</p>
  </div>
)

/** A page for an address that does not exist. */
export function MissingPage({ says }: { readonly says?: string }) {
  return (
    <>
      <PageHeader title={t("shell.missing")} />
      <div className="grid flex-1 place-items-center p-6 text-center">
        <div>
          <h2 className="mb-2 font-serif text-2xl">{t("shell.missing")}</h2>
          <p className="mb-5 text-soft">{says ?? t("shell.missingHint")}</p>
          <ButtonLink look="main" to="/">
            {t("shell.startConversation")}
          </ButtonLink>
        </div>
      </div>
    </>
  )
}
