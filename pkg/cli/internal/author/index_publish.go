package author

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
)

func newIndexPublish(a *app) *cobra.Command {
	var o indexer.ReleaseOptions
	cmd := &cobra.Command{
		Use:   "publish [DIR]",
		Short: "Push an index to an OCI registry",
		Long: `Push an index as one OCI artifact, and move its tag to it. Packs' files are in
shards, by the hashes of their names: whoever looks a pack up fetches the
manifest and one shard, and keeps both until they change. The same packs give
the same digest. Publishing again sends only the shards that changed.

Others read it as index+oci://HOST/REPOSITORY.`,
		Example: `  skillpm index publish --to oci://registry.example/acme/index
  skillpm registry add acme index+oci://registry.example/acme/index`,
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.To == "" {
				return diag.Errorf(diag.Usage, "it is not said where to publish the index").
					WithHint("give --to oci://HOST/REPOSITORY")
			}
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.Dir = console.FirstOf(args)
			r, err := c.Publish(cmd.Context(), o)
			if err != nil {
				return err
			}
			a.Warnings(r.Warnings)
			if a.JSON {
				return a.PrintJSON(r)
			}
			if r.DryRun {
				a.Note("nothing was published: %s in %s, %s", textx.Count(r.Packs, "pack"),
					textx.Count(r.Shards, "shard"), console.BytesText(r.Size))
				return nil
			}
			fmt.Fprintf(a.Stdout, "%s %s\n", console.Printable(r.Registry), console.Printable(r.Digest))
			a.Note("%s in %s, %s", textx.Count(r.Packs, "pack"), textx.Count(r.Shards, "shard"),
				console.BytesText(r.Size))
			return nil
		},
	}
	cmd.Flags().StringVar(&o.To, "to", "",
		"publish at `oci://HOST/REPOSITORY[:TAG]`; the tag is latest if none is named")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say how large it would be, and push nothing")
	return cmd
}

func newIndexServe(a *app) *cobra.Command {
	o := indexer.ServeOptions{Listen: "127.0.0.1:0"}
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Serve an index from this machine",
		Long: `Serve the files of an index over HTTP, to try it or behind a proxy. The address is
printed when there is one. Answers have an ETag and are compressed for clients
that take it; directories are not listed, and neither files that begin with a dot
nor what links lead to is served. It ends with ctrl-c, after what is under way.

Plain HTTP is read from loopback addresses only; for others give a certificate,
or copy the directory to any web server.`,
		Example: `  skillpm index serve ./index
  skillpm index serve --listen 0.0.0.0:8443 --cert server.pem --key server.key`,
		Args:              console.Need(0, 1, "one DIR"),
		ValidArgsFunction: console.CompleteDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.curator()
			if err != nil {
				return err
			}
			o.Dir = console.FirstOf(args)
			o.Ready = func(url string) { fmt.Fprintln(a.Stdout, url) }
			return c.Serve(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", o.Listen, "listen at `HOST:PORT`; port 0 is a free one")
	f.StringVar(&o.Cert, "cert", "", "the certificate, a PEM `FILE`")
	f.StringVar(&o.Key, "key", "", "the certificate's key, a PEM `FILE`")
	return cmd
}
