package oci

import (
	"context"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// tokens is oras-go's cache of tokens, which joins those who fetch the same one at the same time. Here a token is also
// taken by those who found out that they need one while somebody else was fetching it, and come a moment later.
type tokens struct {
	auth.Cache
	turns *httpx.Turns
}

// Set returns a token: one that came since the request was sent that wants it, else a new one.
func (c tokens) Set(ctx context.Context, host string, scheme auth.Scheme, key string, fetch func(context.Context) (string, error)) (string, error) {
	end, err := c.turns.Take(ctx, "token "+host+" "+scheme.String()+" "+key)
	if err != nil {
		return "", err
	}
	defer end()
	talk := conversationOf(ctx)
	token, err := c.GetToken(ctx, host, scheme, key)
	if err == nil && scheme == auth.SchemeBearer && talk != nil && talk.bearer != token {
		return token, nil
	}
	return c.Cache.Set(ctx, host, scheme, key, fetch)
}
