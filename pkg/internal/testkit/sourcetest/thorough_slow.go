//go:build slow

package sourcetest

// thorough makes [RunSample] run everything.
const thorough = true
