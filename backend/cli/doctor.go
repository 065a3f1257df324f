package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"temporal-sandbox-agent/backend"
)

func (a *App) doctorCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what works here: engine, store, backends, models, window",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), a.config(), func(b *backend.Backend) error {
				checks := b.Doctor(cmd.Context())
				bad := false
				for _, c := range checks {
					bad = bad || (c.Needed && !c.OK)
				}
				if asJSON {
					if err := a.printJSON(checks); err != nil {
						return err
					}
				} else {
					for _, c := range checks {
						mark := map[bool]string{true: "ok  ", false: "--  "}[c.OK]
						if c.Needed && !c.OK {
							mark = "BAD "
						}
						_, _ = fmt.Fprintf(a.Out, "%s%-20s %s\n", mark, c.Name, c.Text)
						if c.Remedy != "" && !c.OK {
							_, _ = fmt.Fprintf(a.Out, "    %-20s %s\n", "", c.Remedy)
						}
					}
				}
				if bad {
					return &exitError{code: ExitFailed, err: errors.New("something that is needed does not work")}
				}
				return nil
			})
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print an array of checks")
	return command
}
