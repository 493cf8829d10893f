"""When scenes play: reading what the story says of it, the days and the order that follow, and what cannot be."""
