package markdown

// longFold returns the case folding of characters that fold to several characters, from Unicode's CaseFolding.txt
// (status F), and "" for all others.
func longFold(char rune) string {
	if char >= 0x1f80 && char <= 0x1faf {
		return string([]rune{0x1f00 + [...]rune{0, 0x20, 0x60}[char>>4-0x1f8] + char&7, 0x3b9})
	}
	switch char {
	case 0x00df, 0x1e9e:
		return "ss"
	case 0x0130:
		return "i\u0307"
	case 0x0149:
		return "\u02bcn"
	case 0x01f0:
		return "j\u030c"
	case 0x0390, 0x1fd3:
		return "\u03b9\u0308\u0301"
	case 0x03b0, 0x1fe3:
		return "\u03c5\u0308\u0301"
	case 0x0587:
		return "\u0565\u0582"
	case 0x1e96:
		return "h\u0331"
	case 0x1e97:
		return "t\u0308"
	case 0x1e98:
		return "w\u030a"
	case 0x1e99:
		return "y\u030a"
	case 0x1e9a:
		return "a\u02be"
	case 0x1f50:
		return "\u03c5\u0313"
	case 0x1f52:
		return "\u03c5\u0313\u0300"
	case 0x1f54:
		return "\u03c5\u0313\u0301"
	case 0x1f56:
		return "\u03c5\u0313\u0342"
	case 0x1fb2:
		return "\u1f70\u03b9"
	case 0x1fb3, 0x1fbc:
		return "\u03b1\u03b9"
	case 0x1fb4:
		return "\u03ac\u03b9"
	case 0x1fb6:
		return "\u03b1\u0342"
	case 0x1fb7:
		return "\u03b1\u0342\u03b9"
	case 0x1fc2:
		return "\u1f74\u03b9"
	case 0x1fc3, 0x1fcc:
		return "\u03b7\u03b9"
	case 0x1fc4:
		return "\u03ae\u03b9"
	case 0x1fc6:
		return "\u03b7\u0342"
	case 0x1fc7:
		return "\u03b7\u0342\u03b9"
	case 0x1fd2:
		return "\u03b9\u0308\u0300"
	case 0x1fd6:
		return "\u03b9\u0342"
	case 0x1fd7:
		return "\u03b9\u0308\u0342"
	case 0x1fe2:
		return "\u03c5\u0308\u0300"
	case 0x1fe4:
		return "\u03c1\u0313"
	case 0x1fe6:
		return "\u03c5\u0342"
	case 0x1fe7:
		return "\u03c5\u0308\u0342"
	case 0x1ff2:
		return "\u1f7c\u03b9"
	case 0x1ff3, 0x1ffc:
		return "\u03c9\u03b9"
	case 0x1ff4:
		return "\u03ce\u03b9"
	case 0x1ff6:
		return "\u03c9\u0342"
	case 0x1ff7:
		return "\u03c9\u0342\u03b9"
	case 0xfb00:
		return "ff"
	case 0xfb01:
		return "fi"
	case 0xfb02:
		return "fl"
	case 0xfb03:
		return "ffi"
	case 0xfb04:
		return "ffl"
	case 0xfb05, 0xfb06:
		return "st"
	case 0xfb13:
		return "\u0574\u0576"
	case 0xfb14:
		return "\u0574\u0565"
	case 0xfb15:
		return "\u0574\u056b"
	case 0xfb16:
		return "\u057e\u0576"
	case 0xfb17:
		return "\u0574\u056d"
	}
	return ""
}
