package bundle_test

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// TestUnpackBadArchives proves that each hostile or damaged archive fails with one line that names the reason and the
// entry.
func TestUnpackBadArchives(t *testing.T) { // M2
	named := func(name string) func(*tarball) []byte {
		return func(a *tarball) []byte { return a.skill("ok").file(name, "x").end() }
	}
	typed := func(flag byte, target string) func(*tarball) []byte {
		return func(a *tarball) []byte {
			return a.skill("ok").raw("ok/thing", "", func(h []byte) {
				h[156] = flag
				copy(h[157:257], target)
			}).end()
		}
	}
	two := func(first, second string) func(*tarball) []byte {
		return func(a *tarball) []byte { return a.skill("ok").file(first, "x").file(second, "y").end() }
	}
	small := small()
	tests := []struct {
		name    string
		archive func(*tarball) []byte
		opts    bundle.UnpackOptions
		want    string // in the message
	}{
		// Names.
		{"parent", named("../x"), bundle.UnpackOptions{}, `entry "../x" contains a ".." component`},
		{"parent inside", named("ok/../../b"), bundle.UnpackOptions{}, `contains a ".." component`},
		{"parent at the end", named("ok/.."), bundle.UnpackOptions{}, `contains a ".." component`},
		{"absolute", named("/etc/passwd"), bundle.UnpackOptions{}, `entry "/etc/passwd" is an absolute path`},
		{"dot", named("ok/./x"), bundle.UnpackOptions{}, `contains a "." component`},
		{"empty component", named("ok//x"), bundle.UnpackOptions{}, "contains an empty path component"},
		{"backslash", named(`ok\..\x`), bundle.UnpackOptions{}, "contains a backslash"},
		{"drive letter", named("ok/C:x"), bundle.UnpackOptions{}, "not allowed on Windows: :"},
		{"drive", named("C:/x"), bundle.UnpackOptions{}, "not allowed on Windows: :"},
		{"UNC", named(`\\server\share\x`), bundle.UnpackOptions{}, "contains a backslash"},
		{"UNC with slashes", named("//server/share/x"), bundle.UnpackOptions{}, "is an absolute path"},
		{"stream", named("ok/f::$DATA"), bundle.UnpackOptions{}, "not allowed on Windows: :"},
		{"device", named("ok/nul"), bundle.UnpackOptions{}, "Windows device"},
		{"device with extension", named("ok/CoM1.txt"), bundle.UnpackOptions{}, "Windows device"},
		{"device with space", named("ok/aux .md"), bundle.UnpackOptions{}, "Windows device"},
		{"console", named("ok/conin$"), bundle.UnpackOptions{}, "Windows device"},
		{"superscript device", named("ok/com¹"), bundle.UnpackOptions{}, "Windows device"},
		{"trailing dot", named("ok/x."), bundle.UnpackOptions{}, "ends with a dot"},
		{"trailing space", named("ok/x /y"), bundle.UnpackOptions{}, "starts or ends with a space"},
		{"leading space", named("ok/ x"), bundle.UnpackOptions{}, "starts or ends with a space"},
		{"trailing no-break space", named("ok/x\u00a0"), bundle.UnpackOptions{}, "starts or ends with a space"},
		{"short name", named("ok/SECRET~1.md"), bundle.UnpackOptions{}, "Windows short name"},
		{"newline", named("ok/a\nb"), bundle.UnpackOptions{}, `entry "ok/a\nb" contains a control character`},
		{"escape", named("ok/\x1b[2Jx"), bundle.UnpackOptions{}, `entry "ok/\x1b[2Jx" contains a control character`},
		{"delete", named("ok/a\x7f"), bundle.UnpackOptions{}, "contains a control character"},
		{"C1 control", named("ok/a\u009b"), bundle.UnpackOptions{}, "invisible"},
		{"not UTF-8", named("ok/\xff\xfe"), bundle.UnpackOptions{}, "is not valid UTF-8"},
		{"bidi override", named("ok/\u202egpj.sh"), bundle.UnpackOptions{}, `entry "ok/\u202egpj.sh" contains an invisible or direction-changing`},
		{"bidi isolate", named("ok/\u2066x"), bundle.UnpackOptions{}, "direction-changing"},
		{"zero-width space", named("ok/a\u200bb"), bundle.UnpackOptions{}, "invisible"},
		{"zero-width joiner", named("ok/.g\u200dit/config"), bundle.UnpackOptions{}, "invisible"},
		{"byte order mark", named("ok/\ufeffa"), bundle.UnpackOptions{}, "invisible"},
		{"tag characters", named("ok/a\U000e0041"), bundle.UnpackOptions{}, "invisible"},
		{"Hangul filler", named("ok/\u3164"), bundle.UnpackOptions{}, "invisible"},
		{"option", named("ok/-rf"), bundle.UnpackOptions{}, "starts with a hyphen"},
		{"substitution", named("ok/$(id)"), bundle.UnpackOptions{}, "shell substitution"},
		{"backquote", named("ok/`id`"), bundle.UnpackOptions{}, "backquote"},
		{"back quote after NFC", named("ok/\u1fefid\u1fef"), bundle.UnpackOptions{}, "backquote"},
		{"git", named("ok/.git/config"), bundle.UnpackOptions{}, "is inside a .git directory"},
		{"git in capitals", named("ok/.GiT/config"), bundle.UnpackOptions{}, "is inside a .git directory"},
		{"git short name", named("ok/GIT~1/config"), bundle.UnpackOptions{}, "Windows short name"},
		{"git with dot", named("ok/.git./config"), bundle.UnpackOptions{}, "ends with a dot"},
		{"own directory", named("ok/.skillpm/state.json"), bundle.UnpackOptions{}, "reserved for skillpm"},
		{"own lock", named("ok/skillpm.lock"), bundle.UnpackOptions{}, "reserved for skillpm"},
		{"own lock in capitals", named("ok/SkillPM.LOCK"), bundle.UnpackOptions{}, "reserved for skillpm"},
		{"own directory below", named("ok/a/.SkillPM/x"), bundle.UnpackOptions{}, "reserved for skillpm"},
		{"directory with a bad name", func(a *tarball) []byte { return a.skill("ok").dir("ok/..").end() }, bundle.UnpackOptions{}, `entry "ok/../" contains a ".." component`},
		{"parent of the whole", named("./../x"), bundle.UnpackOptions{}, `contains a ".." component`},
		{"empty name", named(""), bundle.UnpackOptions{}, `entry "" is empty`},
		{"skill is a device", func(a *tarball) []byte { return a.skill("ok").skill("con").end() }, bundle.UnpackOptions{}, `entry "con/SKILL.md" has the name of a Windows device`},
		{"skill is git's", func(a *tarball) []byte { return a.skill("ok").skill(".git").end() }, bundle.UnpackOptions{}, "is inside a .git directory"},
		{"skill is an option", func(a *tarball) []byte { return a.skill("ok").skill("-rf").end() }, bundle.UnpackOptions{}, "starts with a hyphen"},
		{"name of 10,000 bytes", named("ok/" + strings.Repeat("a", 10_000)), bundle.UnpackOptions{}, "… (10003 bytes) has a path of 10000 bytes; the limit is 240"},
		// Kinds of entry.
		{"symbolic link", typed(tar.TypeSymlink, "/etc/passwd"), bundle.UnpackOptions{}, `entry "ok/thing" is a symbolic link to "/etc/passwd"`},
		{"symbolic link inside", typed(tar.TypeSymlink, "SKILL.md"), bundle.UnpackOptions{}, "is a symbolic link"},
		{"hard link", typed(tar.TypeLink, "ok/SKILL.md"), bundle.UnpackOptions{}, "is a hard link"},
		{"character device", typed(tar.TypeChar, ""), bundle.UnpackOptions{}, "is a device"},
		{"block device", typed(tar.TypeBlock, ""), bundle.UnpackOptions{}, "is a device"},
		{"named pipe", typed(tar.TypeFifo, ""), bundle.UnpackOptions{}, "is a named pipe"},
		{"contiguous file", typed('7', ""), bundle.UnpackOptions{}, "has the unknown type '7'"},
		{"volume label", typed('V', ""), bundle.UnpackOptions{}, "unknown type 'V'"},
		{"setuid", func(a *tarball) []byte {
			return a.skill("ok").add(tar.Header{Typeflag: tar.TypeReg, Name: "ok/su", Mode: 0o4755}, "x").end()
		}, bundle.UnpackOptions{}, `entry "ok/su" has a setuid, setgid, or sticky mode: 4755`},
		{"sparse, GNU", typed(tar.TypeGNUSparse, ""), bundle.UnpackOptions{}, ""},
		{"sparse, PAX 0.1", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "GNU.sparse.major", "0", "GNU.sparse.minor", "1", "GNU.sparse.size", "9", "GNU.sparse.numblocks", "1", "GNU.sparse.map", "0,1").file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, "is a sparse file"},
		{"sparse name", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "GNU.sparse.name", "ok/other").file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, "is a sparse file"},
		{"SKILL.md is a link", func(a *tarball) []byte {
			return a.raw("ok/SKILL.md", "", func(h []byte) { h[156] = tar.TypeSymlink; copy(h[157:257], "/etc/passwd") }).end()
		}, bundle.UnpackOptions{}, `entry "ok/SKILL.md" is a symbolic link to "/etc/passwd"`},
		{"SKILL.md is a directory", func(a *tarball) []byte { return a.dir("ok/SKILL.md").end() }, bundle.UnpackOptions{}, `entry "ok" does not contain a SKILL.md`},
		{"the skill is a link", func(a *tarball) []byte {
			return a.skill("ok").raw("evil", "", func(h []byte) { h[156] = tar.TypeSymlink; copy(h[157:257], "/") }).file("evil/x", "x").end()
		}, bundle.UnpackOptions{}, `entry "evil" is a symbolic link to "/"`},
		{"link with a hostile target", typed(tar.TypeSymlink, "\x1b[2J\n\u202e"), bundle.UnpackOptions{}, `is a symbolic link to "\x1b[2J\n\u202e"`},
		{"multi-volume", typed('M', ""), bundle.UnpackOptions{}, "unknown type 'M'"},
		{"directory dump", typed('D', ""), bundle.UnpackOptions{}, "unknown type 'D'"},
		{"setgid", func(a *tarball) []byte {
			return a.skill("ok").add(tar.Header{Typeflag: tar.TypeReg, Name: "ok/sg", Mode: 0o2755}, "x").end()
		}, bundle.UnpackOptions{}, "has a setuid, setgid, or sticky mode: 2755"},
		{"sparse, PAX 1.0", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "GNU.sparse.major", "1", "GNU.sparse.minor", "0", "GNU.sparse.name", "ok/x", "GNU.sparse.realsize", "1099511627776").file("ok/x", "0\n").end()
		}, bundle.UnpackOptions{}, ""},
		// Extended headers.
		{"PAX path", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "path", "../../x").file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, `entry "../../x" contains a ".." component`},
		{"PAX link path", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "linkpath", "/etc/passwd").file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, "linkpath, but is not a link"},
		{"PAX character set", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "hdrcharset", "BINARY").file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, "changes the character set"},
		{"PAX size", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "size", "99999999999").file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, `entry "ok/x" has 99999999999 bytes; the limit is`},
		{"PAX negative size", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "size", "-1").file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, "corrupt"},
		{"PAX nonsense", func(a *tarball) []byte {
			return a.skill("ok").raw("pax", "99999999999999999999 path=x\n", func(h []byte) { h[156] = 'x' }).file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, "corrupt"},
		{"PAX path with a zero byte", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "path", "ok/x\x00/../../y").file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, "corrupt"},
		{"PAX path after another", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "path", "ok/fine").pax('x', "path", "/etc/passwd").file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, `entry "/etc/passwd" is an absolute path`},
		{"GNU long name", func(a *tarball) []byte {
			return a.skill("ok").raw("././@LongLink", "ok/../../evil\x00", func(h []byte) { h[156] = 'L' }).file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, `entry "ok/../../evil" contains a ".." component`},
		{"GNU long link", func(a *tarball) []byte {
			return a.skill("ok").raw("././@LongLink", "/etc/passwd\x00", func(h []byte) { h[156] = 'K' }).raw("ok/x", "", func(h []byte) { h[156] = tar.TypeSymlink }).end()
		}, bundle.UnpackOptions{}, `entry "ok/x" is a symbolic link to "/etc/passwd"`},
		{"extended header of 2 MB", func(a *tarball) []byte {
			return a.skill("ok").pax('x', "comment", strings.Repeat("x", 2<<20)).file("ok/x", "x").end()
		}, bundle.UnpackOptions{}, "corrupt"},
		{"global size", func(a *tarball) []byte {
			return a.pax('g', "size", "1").skill("ok").end()
		}, bundle.UnpackOptions{}, `global extended header that sets "size"`},
		{"global path", func(a *tarball) []byte {
			return a.pax('g', "path", "evil").skill("ok").end()
		}, bundle.UnpackOptions{}, `global extended header that sets "path"`},
		// Collisions.
		{"twice", two("ok/a", "ok/a"), bundle.UnpackOptions{}, `entry "ok/a" is duplicated`},
		{"twice, once with dot", two("ok/a", "./ok/a"), bundle.UnpackOptions{}, "is duplicated"},
		{"file, then directory", two("ok/a", "ok/a/b"), bundle.UnpackOptions{}, `uses "a" as both a file and a directory`},
		{"directory, then file", two("ok/a/b", "ok/a"), bundle.UnpackOptions{}, "as both a file and a directory"},
		{"directory entry, then file", func(a *tarball) []byte {
			return a.skill("ok").dir("ok/a").file("ok/a", "x").end()
		}, bundle.UnpackOptions{}, "as both a file and a directory"},
		{"case", two("ok/readme.md", "ok/README.md"), bundle.UnpackOptions{}, `collides with "readme.md"`},
		{"case of directories", two("ok/docs/a", "ok/Docs/b"), bundle.UnpackOptions{}, `collides with "docs"`},
		{"NFC and NFD", two("ok/caf\u00e9", "ok/cafe\u0301"), bundle.UnpackOptions{}, "is duplicated"},
		{"case and NFD", two("ok/CAF\u00c9", "ok/cafe\u0301"), bundle.UnpackOptions{}, "collides with"},
		{"folding", two("ok/stra\u00dfe", "ok/STRASSE"), bundle.UnpackOptions{}, "collides with"},
		{"long s", two("ok/s", "ok/\u017f"), bundle.UnpackOptions{}, "collides with"},
		{"Kelvin", two("ok/k", "ok/\u212a"), bundle.UnpackOptions{}, "collides with"},
		{"emoji presentation", two("ok/\u26a0.md", "ok/\u26a0\ufe0f.md"), bundle.UnpackOptions{}, "collides with"},
		{"case of skills", func(a *tarball) []byte { return a.skill("ok").skill("OK").end() }, bundle.UnpackOptions{}, `collides with "ok"`},
		// Limits.
		{"long component", named("ok/" + strings.Repeat("a", 300)), bundle.UnpackOptions{}, "path of 300 bytes; the limit is 240"},
		{"long path", named("ok" + strings.Repeat("/aaaaaaaaa", 30)), bundle.UnpackOptions{}, "path of 299 bytes; the limit is 240"},
		{"depth", named("ok" + strings.Repeat("/a", 17)), bundle.UnpackOptions{}, "path of 17 components; the limit is 16"},
		{"path over a lower limit", named("ok/" + strings.Repeat("a", 61)), bundle.UnpackOptions{Limits: small}, "path of 61 bytes; the limit is 60"},
		{"depth over a lower limit", named("ok/a/b/c/d/e"), bundle.UnpackOptions{Limits: small}, "path of 5 components; the limit is 4"},
		{"file too large", func(a *tarball) []byte {
			return a.skill("ok").file("ok/a", strings.Repeat("x", 1001)).end()
		}, bundle.UnpackOptions{Limits: small}, `entry "ok/a" has 1001 bytes; the limit is 1000`},
		{"all too large", func(a *tarball) []byte {
			s := strings.Repeat("x", 900)
			return a.skill("ok").file("ok/a", s).file("ok/b", s).file("ok/c", s).end()
		}, bundle.UnpackOptions{Limits: small}, `entry "ok/c" makes the skill larger than 2000 bytes`},
		{"all skills together too large", func(a *tarball) []byte {
			s := strings.Repeat("x", 900)
			return a.skill("ok").file("ok/a", s).skill("b").file("b/b", s).skill("c").file("c/c", s).end()
		}, bundle.UnpackOptions{Limits: small}, "makes the archive larger than 2000 bytes"},
		{"too many files", func(a *tarball) []byte {
			for i := range 30 {
				a.file("ok/"+strings.Repeat("x", i+1), "")
			}
			return a.end()
		}, bundle.UnpackOptions{Limits: small}, "exceeds the limit of 20 "},
		{"too many directories", func(a *tarball) []byte {
			for range 30 {
				a.dir("ok")
			}
			return a.end()
		}, bundle.UnpackOptions{Limits: small}, "exceeds the limit of 20 entries"},
		{"too many implied directories", func(a *tarball) []byte {
			for i := range 8 {
				d := "ok/" + strings.Repeat("x", i+1)
				a.file(d+"/y/z", "")
			}
			return a.end()
		}, bundle.UnpackOptions{Limits: small}, "exceeds the limit of 20 files and directories"},
		{"too many, ignored", func(a *tarball) []byte {
			for range 30 {
				a.file("ok/.DS_Store", "")
			}
			return a.end()
		}, bundle.UnpackOptions{Limits: small}, "exceeds the limit of 20 entries"},
		{"bomb in an ignored file", func(a *tarball) []byte {
			return compressed(t, a.skill("ok").file("ok/.DS_Store", strings.Repeat("\x00", 4<<20)).end())
		}, bundle.UnpackOptions{Limits: small}, "the unpacked archive is larger than"},
		{"bomb in headers", func(a *tarball) []byte {
			for range 20 {
				a.pax('x', "comment", strings.Repeat("x", 1<<18))
			}
			return compressed(t, a.skill("ok").end())
		}, bundle.UnpackOptions{Limits: small}, ""},
		{"bomb as padding", func(a *tarball) []byte {
			return compressed(t, append(a.skill("ok").end(), make([]byte, 8<<20)...))
		}, bundle.UnpackOptions{}, "data follows the last entry of the archive"},
		// Shape of the archive.
		{"nothing", func(*tarball) []byte { return nil }, bundle.UnpackOptions{}, "truncated"},
		{"no entries", (*tarball).end, bundle.UnpackOptions{}, "no skills found"},
		{"no entries, automatic", (*tarball).end, bundle.UnpackOptions{Layout: bundle.Auto}, "no skills found"},
		{"not an archive", func(*tarball) []byte { return bytes.Repeat([]byte("<html>"), 500) }, bundle.UnpackOptions{}, "not a tar archive"},
		{"zip", func(*tarball) []byte { return append([]byte("PK\x03\x04"), make([]byte, 1000)...) }, bundle.UnpackOptions{}, "not a tar archive"},
		{"zstd", func(*tarball) []byte { return append([]byte("\x28\xb5\x2f\xfd"), make([]byte, 1000)...) }, bundle.UnpackOptions{}, "not a tar archive"},
		{"gzip in gzip", func(a *tarball) []byte { return compressed(t, a.skill("ok").zip()) }, bundle.UnpackOptions{}, ""},
		{"gzip of nonsense", func(*tarball) []byte { return compressed(t, bytes.Repeat([]byte("<html>"), 500)) }, bundle.UnpackOptions{}, "not a tar archive"},
		{"no SKILL.md", func(a *tarball) []byte { return a.skill("ok").file("bad/x", "").end() }, bundle.UnpackOptions{}, `entry "bad" does not contain a SKILL.md`},
		{"no SKILL.md, other case", func(a *tarball) []byte { return a.file("bad/skill.md", "").end() }, bundle.UnpackOptions{}, "does not contain a SKILL.md"},
		{"no SKILL.md, an empty directory", func(a *tarball) []byte { return a.skill("ok").dir("bad").end() }, bundle.UnpackOptions{}, "does not contain a SKILL.md"},
		{"no SKILL.md, single", func(a *tarball) []byte { return a.file("README.md", "").end() }, bundle.UnpackOptions{Layout: bundle.Single, Skill: "x"}, `entry "x" does not contain a SKILL.md`},
		{"no SKILL.md, automatic", func(a *tarball) []byte { return a.file("a/b/SKILL.md", "").end() }, bundle.UnpackOptions{Layout: bundle.Auto, Skill: "x"}, "no skills found"},
		{"two roots", func(a *tarball) []byte { return a.skill("ok").skill("other").end() }, bundle.UnpackOptions{Skill: "ok"}, `entry "other/SKILL.md" is outside "ok"`},
		{"file at the top", named("README.md"), bundle.UnpackOptions{}, "is not inside a skill's directory"},
		// Damage.
		{"truncated header", func(a *tarball) []byte { return a.skill("ok").b.Bytes()[:700] }, bundle.UnpackOptions{}, "truncated"},
		{"no end mark", func(a *tarball) []byte { return a.skill("ok").b.Bytes() }, bundle.UnpackOptions{}, "the end mark is missing"},
		{"half an end mark", func(a *tarball) []byte { return append(a.skill("ok").b.Bytes(), make([]byte, 512)...) }, bundle.UnpackOptions{}, "the end mark is missing"},
		{"truncated gzip", func(a *tarball) []byte { z := a.skill("ok").zip(); return z[:len(z)-9] }, bundle.UnpackOptions{}, "truncated"},
		{"truncated gzip checksum", func(a *tarball) []byte { z := a.skill("ok").zip(); return z[:len(z)-2] }, bundle.UnpackOptions{}, "truncated"},
		{"gzip header alone", func(a *tarball) []byte { return a.skill("ok").zip()[:5] }, bundle.UnpackOptions{}, "truncated"},
		{"gzip checksum", func(a *tarball) []byte { z := a.skill("ok").zip(); z[len(z)-6] ^= 1; return z }, bundle.UnpackOptions{}, "checksum"},
		{"gzip of an unknown method", func(a *tarball) []byte { z := a.skill("ok").zip(); z[2] = 7; return z }, bundle.UnpackOptions{}, "the compressed stream is corrupt"},
		{"gzip damaged inside", func(a *tarball) []byte { z := a.skill("ok").zip(); copy(z[12:], "\xff\xff\xff\xff\xff\xff"); return z }, bundle.UnpackOptions{}, ""},
		{"trailing data", func(a *tarball) []byte { return append(a.skill("ok").end(), "more"...) }, bundle.UnpackOptions{}, "data follows the last entry of the archive"},
		{"a second archive", func(a *tarball) []byte {
			return append(a.skill("ok").end(), newTar(t).skill("hidden").end()...)
		}, bundle.UnpackOptions{}, "data follows the last entry of the archive"},
		{"trailing data after gzip", func(a *tarball) []byte { return append(a.skill("ok").zip(), "more"...) }, bundle.UnpackOptions{}, "data follows the compressed stream"},
		{"zeros after gzip", func(a *tarball) []byte { return append(a.skill("ok").zip(), 0) }, bundle.UnpackOptions{}, "data follows the compressed stream"},
		{"a second gzip member", func(a *tarball) []byte {
			z := a.skill("ok").zip()
			return append(z, z...)
		}, bundle.UnpackOptions{}, "data follows the compressed stream"},
		{"header checksum", func(a *tarball) []byte { b := a.skill("ok").end(); b[0] ^= 1; return b }, bundle.UnpackOptions{}, "invalid header"},
		{"header size too large", func(a *tarball) []byte {
			return a.skill("ok").raw("ok/x", "x", func(h []byte) { copy(h[124:136], "00000010000\x00") }).end()
		}, bundle.UnpackOptions{}, "truncated"},
		{"header size too small", func(a *tarball) []byte {
			return a.skill("ok").raw("ok/x", strings.Repeat("x", 600), func(h []byte) { copy(h[124:136], "00000000001\x00") }).end()
		}, bundle.UnpackOptions{}, "invalid header"},
		{"header size in base 256", func(a *tarball) []byte {
			return a.skill("ok").raw("ok/x", "x", func(h []byte) {
				copy(h[124:128], "\x80\x00\x00\x00")
				binary.BigEndian.PutUint64(h[128:136], 1<<50)
			}).end()
		}, bundle.UnpackOptions{}, "bytes; the limit is 134217728"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := tt.archive(newTar(t))
			for _, r := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data)), iotest.DataErrReader(bytes.NewReader(data))} {
				err := bundle.Unpack(r, tt.opts, bundle.NewHasher(bundle.Limits{}))
				if diag.CodeOf(err) != diag.Invalid {
					t.Fatalf("got %v (code %v), want it to be invalid", err, diag.CodeOf(err))
				}
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %q, want it to have %q", err, tt.want)
				}
				for _, c := range err.Error() {
					if c < ' ' || c > '~' && c != '…' {
						t.Errorf("%q is not fit for a terminal", err)
					}
				}
			}
		})
	}
}

// TestUnpackOddArchives proves that archives of other tools are read, and give the same trees.
func TestUnpackOddArchives(t *testing.T) { // M2
	plain := func(a *tarball) *tarball {
		return a.file("x/SKILL.md", "s").add(tar.Header{Typeflag: tar.TypeReg, Name: "x/run", Mode: 0o755}, "r")
	}
	want := digests(t, plain(newTar(t)).end(), bundle.UnpackOptions{})["x"]
	tests := []struct {
		name    string
		archive func(*tarball) []byte
		opts    bundle.UnpackOptions
	}{
		{"compressed", func(a *tarball) []byte { return plain(a).zip() }, bundle.UnpackOptions{}},
		{"blocked", func(a *tarball) []byte { return append(plain(a).end(), make([]byte, 10240)...) }, bundle.UnpackOptions{}},
		{"directories", func(a *tarball) []byte { return plain(a.dir(".").dir("x")).dir("x").end() }, bundle.UnpackOptions{}},
		{"dot names", func(a *tarball) []byte {
			return a.dir(".").dir("./x").file("./x/SKILL.md", "s").add(tar.Header{Typeflag: tar.TypeReg, Name: "./x/run", Mode: 0o777, Uid: 5, Gid: 6, Uname: "me"}, "r").end()
		}, bundle.UnpackOptions{}},
		{"old type flag", func(a *tarball) []byte {
			return a.raw("x/SKILL.md", "s", func(h []byte) { h[156] = 0 }).add(tar.Header{Typeflag: tar.TypeReg, Name: "x/run", Mode: 0o100}, "r").end()
		}, bundle.UnpackOptions{}},
		{"git archive", func(a *tarball) []byte { return plain(a.pax('g', "comment", "0123abc")).end() }, bundle.UnpackOptions{}},
		{"extended attributes", func(a *tarball) []byte {
			return plain(a.pax('x', "mtime", "1.5", "SCHILY.xattr.user.x", "y", "LIBARCHIVE.xattr.a", "b")).end()
		}, bundle.UnpackOptions{}},
		{"litter", func(a *tarball) []byte {
			return plain(a).file("x/.DS_Store", "").file("x/._run", "").file("__MACOSX/x/._run", "").file("x/node_modules/y", "").file("x/skillpm.yaml", "").file("._x", "").end()
		}, bundle.UnpackOptions{}},
		{"single", func(a *tarball) []byte {
			return a.file("SKILL.md", "s").add(tar.Header{Typeflag: tar.TypeReg, Name: "run", Mode: 0o755}, "r").end()
		}, bundle.UnpackOptions{Layout: bundle.Single, Skill: "x"}},
		{"automatic, single", func(a *tarball) []byte {
			return a.add(tar.Header{Typeflag: tar.TypeReg, Name: "./run", Mode: 0o755}, "r").file("./SKILL.md", "s").zip()
		}, bundle.UnpackOptions{Layout: bundle.Auto, Skill: "x"}},
		{"automatic, rooted", func(a *tarball) []byte {
			return plain(a.file("README.md", "").file("docs/x.md", "")).zip()
		}, bundle.UnpackOptions{Layout: bundle.Auto, Skill: "unused"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := digests(t, tt.archive(newTar(t)), tt.opts)
			if len(got) != 1 || got["x"] != want {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
}

// TestUnpackNormal proves that a decomposed name is composed in the result.
func TestUnpackNormal(t *testing.T) {
	h := bundle.NewHasher(bundle.Limits{})
	data := newTar(t).skill("ok").file("ok/cafe\u0301.md", "x").end()
	if err := bundle.Unpack(bytes.NewReader(data), bundle.UnpackOptions{}, h); err != nil {
		t.Fatal(err)
	}
	if _, ok := h.Inventories()["ok"].Find("caf\u00e9.md"); !ok {
		t.Errorf("got %v", h.Inventories())
	}
}

type failingSink struct{ err error }

func (s failingSink) WriteFile(string, string, bool, int64, io.Reader) error { return s.err }

// TestUnpackOtherErrors proves that network and disk errors are not reported as a bad archive.
func TestUnpackOtherErrors(t *testing.T) {
	data := newTar(t).skill("ok").zip()
	remote := diag.Errorf(diag.Remote, "connection lost: %w", io.ErrUnexpectedEOF)
	for n := range len(data) {
		r := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(remote))
		for _, layout := range []bundle.Layout{bundle.Rooted, bundle.Auto} {
			err := bundle.Unpack(r, bundle.UnpackOptions{Layout: layout}, bundle.NewHasher(bundle.Limits{}))
			if layout == bundle.Rooted && diag.CodeOf(err) != diag.Remote {
				t.Fatalf("after %d bytes: %v", n, err)
			}
		}
	}
	full := errors.New("no space left on device")
	if err := bundle.Unpack(bytes.NewReader(data), bundle.UnpackOptions{}, failingSink{full}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// FuzzUnpack reads damaged archives. An accepted archive must give the same trees when it is packed again.
func FuzzUnpack(f *testing.F) {
	f.Add(newTar(f).skill("a").end())
	f.Add(newTar(f).skill("a").dir("a/b").file("a/b/c", "x").skill("b").zip())
	f.Add(newTar(f).pax('g', "comment", "x").pax('x', "path", "a/SKILL.md").file("x", "y").end())
	f.Add(newTar(f).file("SKILL.md", "x").end())
	data, _ := archive(f, demo())
	f.Add(data)
	limits := bundle.Limits{Files: 100, FileBytes: 1 << 16, TotalBytes: 1 << 18}
	f.Add([]byte("\x1f\x8b\b\x8b\b\x00\x00\x00\x05\xe0\xac{")) // the header's end is missing
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, layout := range []bundle.Layout{bundle.Rooted, bundle.Single, bundle.Auto} {
			m := memory{}
			opts := bundle.UnpackOptions{Layout: layout, Limits: limits}
			if layout != bundle.Rooted {
				opts.Skill = "skill"
			}
			if err := bundle.Unpack(bytes.NewReader(data), opts, m); err != nil {
				if diag.CodeOf(err) != diag.Invalid {
					t.Errorf("code %v: %v", diag.CodeOf(err), err)
				}
				continue
			}
			trees := m.trees()
			again, _ := archive(t, trees)
			got := digests(t, again, bundle.UnpackOptions{})
			for _, tree := range trees {
				if got[tree.Name] != tree.Inventory.Digest() {
					t.Errorf("%s: packed again it is another", tree.Name)
				}
			}
		}
	})
}

// memory is a sink that keeps everything in memory.
type memory map[string]map[string][]byte

func (m memory) WriteFile(skill, path string, _ bool, _ int64, r io.Reader) error {
	if m[skill] == nil {
		m[skill] = make(map[string][]byte)
	}
	data, err := io.ReadAll(r)
	m[skill][path] = data
	return err
}

func (m memory) trees() []bundle.Tree {
	var trees []bundle.Tree
	for _, name := range slices.Sorted(maps.Keys(m)) {
		trees = append(trees, bundle.MapTree(name, m[name], nil))
	}
	return trees
}
