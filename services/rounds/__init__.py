"""The ward round: patients prepared side by side, then a card for each."""
